// Sign-in with an identity provider: redirects to the provider and handles its response.

import type { NamedProvider, Outcome } from '../../../auth/providers/provider-service.ts'
import { backPath } from '../../../auth/providers/provider-settings.ts'
import { AppError } from '../../../base/error.ts'
import type { AccountFault } from '../../../model/account-fault.ts'
import type { PagesDeps } from '../deps.ts'
import type { Form } from '../form.ts'
import { html } from '../html.ts'
import { type Page, type PageAnswer, type PageCall, redirect, type ShownPage } from '../page.ts'
import { changePasswordPath, linkedAccountsPath, linkFoundPath, signInPath } from '../paths.ts'
import type { SignInService } from '../sign-in-service.ts'
import { browserOf, startPath } from './provider-buttons.ts'

type ProviderDeps = Pick<PagesDeps, 'providers' | 'sessions' | 'accounts' | 'users'>

/** Users who must set up a second factor first may need these pages to confirm their identity. */
const shared = { audience: 'anyone', isOpenWithoutSecondFactor: true } as const

/** Two pages per provider, so that a response of one provider is never attributed to another. */
export function createProviderPages(deps: ProviderDeps, service: SignInService): Page[] {
  return deps.providers.providers.flatMap((provider): Page[] => [
    { ...shared, path: startPath(provider.id), get: (call: PageCall) => begin(call, provider, deps) },
    {
      ...{ ...shared, isRepeated: true, takesForeignForms: true, path: backPath(provider.id) },
      // From another site, the browser sends no cookies with it; with the redirect, it does.
      post: async (_call: PageCall, form: Form) => redirect(`${backPath(provider.id)}?${copyAnswer(form)}`),
      get: (call: PageCall) => finish(call, provider, deps, service),
    },
  ])
}

/** Apple answers with a form (OAuth 2.0 Form Post Response Mode). */
function copyAnswer(form: Form): URLSearchParams {
  const names = ['code', 'state', 'iss', 'error', 'error_description']
  return new URLSearchParams(
    names.map((name) => [name, form.get(name)] as [string, string]).filter(([, value]) => value !== ''),
  )
}

async function begin(
  call: PageCall,
  provider: NamedProvider,
  { providers, sessions }: ProviderDeps,
): Promise<PageAnswer> {
  const start = call.visit.find((owner) => providers.openStart(owner, call.query.get('start') ?? ''))
  const browser = browserOf(call)
  if (!start) return showStale(call)
  if (start.purpose !== 'sign_in' && call.session?.id !== start.sessionId) return showStale(call)
  // The page with the button required a recent password, but it may have been left open.
  if (start.purpose === 'link' && !sessions.hasRecentProof(call.session!)) return redirect(linkedAccountsPath)
  try {
    const { location, cookie } = await providers.begin(provider.id, start, browser)
    return redirect(location, [cookie])
  } catch (error) {
    if (error instanceof AppError && error.kind === 'unavailable') return showUnavailable(call, provider)
    throw error
  }
}

async function finish(
  call: PageCall,
  provider: NamedProvider,
  { providers, users, accounts }: ProviderDeps,
  service: SignInService,
): Promise<PageAnswer> {
  if (await accounts.signUps.isSetupPending()) return redirect(signInPath)
  try {
    const { outcome, cookie } = await providers.finish(provider.id, call.query, browserOf(call))
    const answer = await follow(call, outcome, provider, { users, service })
    return answer.kind === 'json' || cookie === undefined
      ? answer
      : { ...answer, cookies: [...(answer.cookies ?? []), cookie] }
  } catch (error) {
    // The account changed in the meantime.
    if (error instanceof AppError && error.kind === 'unauthenticated') return showStale(call)
    if (error instanceof AppError && (error.kind === 'conflict' || error.kind === 'forbidden')) {
      return showConflict(call, error)
    }
    throw error
  }
}

type FollowParts = Pick<ProviderDeps, 'users'> & { readonly service: SignInService }

async function follow(
  call: PageCall,
  outcome: Outcome,
  provider: NamedProvider,
  { users, service }: FollowParts,
): Promise<PageAnswer> {
  switch (outcome.kind) {
    case 'signed_in':
      return service.admit(call, outcome.user, { by: 'identity provider', returnTo: outcome.destination })
    case 'linked':
      return redirect(`${linkedAccountsPath}?done=linked`)
    case 'confirmed': {
      const session = call.session!
      const user = { ...(await users.get(session.userId)), credentialsVersion: session.credentialsVersion }
      return service.confirm(call, user, { path: outcome.path })
    }
    case 'prove':
      return showProve(call, outcome, provider)
    case 'denied':
      return showDenied(call, outcome, provider)
    case 'refused':
      return showRefused(call, outcome, provider)
    case 'unavailable':
      return showUnavailable(call, provider)
    case 'invalid':
      return showInvalid(call, provider)
    case 'not_fresh':
      return showNotFresh(call, provider)
    case 'other_session':
    case 'stale':
      return showStale(call)
  }
}

function showProve(
  { texts }: PageCall,
  { email, found }: Extract<Outcome, { kind: 'prove' }>,
  { name }: NamedProvider,
): ShownPage {
  const { proveTitle, prove, proveButton, notNow } = texts.providers
  return {
    kind: 'page',
    title: proveTitle,
    content: html`<p>${prove(email, name)}</p>
<p><a class="button" href="${linkFoundPath}?found=${found}">${proveButton}</a></p>
<p class="aside"><a href="${signInPath}">${notNow}</a></p>`,
  }
}

function showDenied(
  call: PageCall,
  { purpose }: Extract<Outcome, { kind: 'denied' }>,
  { name }: NamedProvider,
): ShownPage {
  const { deniedTitle, denied } = call.texts.providers
  return showFailure(call, 403, deniedTitle, denied(name), purpose === 'sign_in' ? signInPath : linkedAccountsPath)
}

function showRefused(
  call: PageCall,
  { reason, email }: Extract<Outcome, { kind: 'refused' }>,
  { name }: NamedProvider,
): ShownPage {
  const { refusedTitle, refused, yourAddress } = call.texts.providers
  const message = refused[reason]
  const text = typeof message === 'function' ? message(name) : message
  return showFailure(call, 403, refusedTitle, text, signInPath, email === undefined ? undefined : yourAddress(email))
}

function showStale(call: PageCall): ShownPage {
  const { staleTitle, stale } = call.texts.providers
  return showFailure(call, 400, staleTitle, stale)
}

function showUnavailable(call: PageCall, { name }: NamedProvider): ShownPage {
  const { unavailableTitle, unavailable } = call.texts.providers
  return { ...showFailure(call, 503, unavailableTitle(name), unavailable), retryAfterSeconds: 10 }
}

function showInvalid(call: PageCall, { name }: NamedProvider): ShownPage {
  const { invalidTitle, invalid } = call.texts.providers
  return showFailure(call, 400, invalidTitle(name), invalid)
}

function showNotFresh(call: PageCall, { name }: NamedProvider): ShownPage {
  const { notFreshTitle, notFresh } = call.texts.providers
  return showFailure(call, 403, notFreshTitle, notFresh(name), changePasswordPath)
}

/** For simultaneous changes and for identities that are linked to another account. */
function showConflict(call: PageCall, { fault }: AppError): ShownPage {
  const { refusedTitle, refused } = call.texts.providers
  const message = call.texts.faults[fault as AccountFault] as string | undefined
  return showFailure(call, 409, refusedTitle, message ?? refused.conflict)
}

/** Shows an error with a link to `next`. */
function showFailure(
  { texts, session }: PageCall,
  status: number,
  title: string,
  text: string,
  next = session ? linkedAccountsPath : signInPath,
  detail?: string,
): ShownPage {
  const { providers, tokens } = texts
  return {
    kind: 'page',
    status,
    title,
    content: html`<p>${text}</p>
${detail !== undefined && html`<p class="hint">${detail}</p>`}
<p><a class="button" href="${next}">${next === signInPath ? providers.back : next === linkedAccountsPath ? tokens.back : providers.passwordTitle}</a></p>`,
  }
}

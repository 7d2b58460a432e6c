// The authorization endpoint (RFC 6749 section 3.1). An application sends the browser here, the user signs in and
// decides, and the browser is redirected back with the answer. auth/oauth/ checks the request before anybody signs in.

import { dashboardClientId, needsPassword } from '../../../auth/oauth/dashboard-client.ts'
import type { AuthorizeDescription, AuthorizeRequest } from '../../../auth/oauth/oauth-types.ts'
import { AppError } from '../../../base/error.ts'
import type { Scope } from '../../../model/access.ts'
import type { PagesDeps } from '../deps.ts'
import { drawForm } from '../fields.ts'
import { html } from '../html.ts'
import { type Page, type PageAnswer, type PageCall, redirect, type ShownPage, type UserCall } from '../page.ts'
import { authorizePath, signOutPath } from '../paths.ts'
import { PendingItems } from '../pending-items.ts'
import type { SignInService } from '../sign-in-service.ts'

const questionLifetimeMs = 3_600_000

type AuthorizeDeps = Pick<
  PagesDeps,
  'oauth' | 'sessions' | 'accounts' | 'users' | 'usedValues' | 'pendingKey' | 'clock'
>

export function createAuthorizePage(deps: AuthorizeDeps, service: SignInService, publicUrl: string): Page {
  const questions = new PendingItems<AuthorizeRequest>({
    ...{ key: deps.pendingKey, kind: 'consent', lifetimeMs: questionLifetimeMs },
    ...{ clock: deps.clock, used: deps.usedValues },
  })
  return {
    path: authorizePath,
    audience: 'anyone, then user',
    get: async (call) =>
      isOtherOrigin(call, publicUrl) ? showOwnAddress(call, publicUrl) : ask(call, { ...deps, service, questions }),
    async post(call, form) {
      const isAllowed = form.get('answer') === 'allow'
      const { session, user } = call
      const asked = questions.open(session.id, form.get('question'))
      // The question was shown right after the password was entered, but somebody else may have answered it later.
      if (isAllowed && asked && isPasswordMissing(asked, call, deps)) return service.sendToConfirm(call, call.url)
      // Each question is answered once, so that a form that is sent twice does not issue two codes.
      const request = await questions.take(session.id, form.get('question'), user.id)
      // Already answered or expired: the question is shown again. The form's URL repeats the query.
      if (!request) return redirect(call.url)
      try {
        if (!isAllowed) return redirect((await deps.oauth.authorization.deny(request)).location)
        return redirect((await deps.oauth.authorization.approve(request, call.session, call.context)).location)
      } catch (error) {
        const isGone = error instanceof AppError && (error.kind === 'conflict' || error.kind === 'not_found')
        if (!isGone) throw error
        return refuse(call, 'invalid_request', call.texts.consent.changed)
      }
    },
  }
}

/** True if the dashboard was not opened at the public URL. Neither sign-in nor media would work there. */
function isOtherOrigin({ query, wantsHtml }: PageCall, publicUrl: string): boolean {
  const target = query.get('redirect_uri') ?? ''
  return wantsHtml && query.get('client_id') === dashboardClientId && !target.startsWith(`${publicUrl}/`)
}

function showOwnAddress({ texts }: PageCall, publicUrl: string): ShownPage {
  const { ownAddressTitle, ownAddress, ownAddressAdvice } = texts.errors
  return {
    kind: 'page',
    status: 400,
    title: ownAddressTitle,
    content: html`<p>${ownAddress} <a href="${publicUrl}/">${publicUrl}</a></p>
<p>${ownAddressAdvice}</p>`,
  }
}

type AskParts = AuthorizeDeps & { readonly service: SignInService; readonly questions: PendingItems<AuthorizeRequest> }

async function ask(
  call: PageCall,
  { oauth, sessions, accounts, users, service, questions }: AskParts,
): Promise<PageAnswer> {
  // Before the server is set up, the only application is the dashboard, and everyone starts there.
  if (await accounts.signUps.isSetupPending()) return service.sendToSignIn(call, { path: call.url })
  const check = await oauth.authorization.check(call.url.slice(call.url.indexOf('?') + 1))
  if (check.kind === 'refused') return refuse(call, check.error, check.detail, 'en')
  const { session } = call
  const user = session && (await users.find(session.userId))
  if (!session || !user) {
    const appName = check.kind === 'ask' ? check.request.appName : undefined
    return service.sendToSignIn(call, { path: call.url, appName, leadsOut: true })
  }
  // Not before sign-in: a URL of this server must not be an open redirect.
  if (check.kind === 'redirect_error') return redirect(check.location)
  const userCall: UserCall = { ...call, session, user }
  if (isPasswordMissing(check.request, userCall, { sessions })) return service.sendToConfirm(call, call.url)
  // The dashboard needs no consent, because nobody else can receive responses at its URL.
  if (check.request.isBuiltIn)
    return redirect((await oauth.authorization.approve(check.request, session, call.context)).location)
  const question = questions.put(session.id, check.request)
  if (question === undefined) return refuse(call, 'invalid_request', 'the request is too long', 'en')
  return showConsent(userCall, { question, description: oauth.authorization.describe(check.request) })
}

/** Access that outlives the browser session requires the password, in case somebody else uses the open browser. */
function isPasswordMissing(
  request: AuthorizeRequest,
  { session }: Pick<UserCall, 'session'>,
  { sessions }: Pick<AuthorizeDeps, 'sessions'>,
): boolean {
  return needsPassword(request) && !sessions.hasRecentProof(session)
}

type Consent = {
  /** The pending question. */
  readonly question: string
  readonly description: AuthorizeDescription
}

function showConsent({ texts, user, session, url }: UserCall, { question, description }: Consent): ShownPage {
  const { appName, ownerName, redirectHost, scopes, idleDays, mostDays } = description
  const { consent } = texts
  return {
    kind: 'page',
    title: consent.title(appName),
    leadsOut: true,
    content: html`<p>${consent.asks(appName)}</p>
<ul class="scopes">${scopes.map((name) => html`<li>${texts.scopes[name as Scope] ?? name}</li>`)}</ul>
<dl class="facts">
<div><dt>${consent.owner}</dt><dd>${ownerName}</dd></div>
<div><dt>${consent.target}</dt><dd>${redirectHost}</dd></div>
<div><dt>${consent.lifetime}</dt><dd>${consent.lasts(idleDays, mostDays)}</dd></div>
<div><dt>${consent.account}</dt><dd>${user.email}
${drawForm({
  action: signOutPath,
  formToken: session.formToken,
  hidden: { next: url },
  className: 'inline',
  content: html`<button class="link">${consent.notYou}</button>`,
})}</dd></div>
</dl>
<p class="hint">${consent.caution}</p>
${drawForm({
  action: url,
  formToken: session.formToken,
  hidden: { question },
  className: 'choices',
  content: html`<button class="button" name="answer" value="allow">${consent.allow}</button>
<button class="button button-quiet" name="answer" value="deny">${consent.deny}</button>`,
})}`,
  }
}

/**
 * For an invalid application or redirect URI: the error is shown here, and the browser is not redirected. `language` is
 * that of `detail`.
 */
function refuse({ texts, wantsHtml }: PageCall, error: string, detail: string, language = texts.language): PageAnswer {
  if (!wantsHtml) return { kind: 'json', status: 400, body: { status: 400, title: error, detail } }
  return {
    kind: 'page',
    status: 400,
    title: texts.errors.authorizeTitle,
    content: html`<p>${texts.errors.authorizeAdvice}</p>
<p class="detail"><code>${error}</code> <span lang="${language}">${detail}</span></p>`,
  }
}

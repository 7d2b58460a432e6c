// Lists, adds and removes the accounts at identity providers that can sign in to the user's account.

import type { LinkedProvider } from '../../../auth/providers/provider-service.ts'
import type { ProvenUser } from '../../../store/accounts/proven-user.ts'
import type { PagesDeps } from '../deps.ts'
import { drawButton, drawForm, drawNotice, type FormProblem } from '../fields.ts'
import { toRefusal } from '../form-problem.ts'
import { type Html, html } from '../html.ts'
import { type Page, redirect, type ShownPage, type UserCall } from '../page.ts'
import { homePath, linkedAccountsPath, linkFoundPath, signOutPath } from '../paths.ts'
import { drawRow } from '../rows.ts'
import type { SignInService } from '../sign-in-service.ts'
import { browserOf, drawProviderButtons } from './provider-buttons.ts'

type LinkedDeps = Pick<PagesDeps, 'providers' | 'clock'>

export function createLinkedAccountsPage({ providers, clock }: LinkedDeps, service: SignInService): Page {
  const show = async (call: UserCall, problem?: FormProblem): Promise<ShownPage> => {
    const linked = await providers.list(call.user.id)
    const free = providers.providers.filter(({ id }) => !linked.some(({ provider }) => provider?.id === id))
    const start = { purpose: 'link', path: linkedAccountsPath, sessionId: call.session.id } as const
    const { texts } = call
    const done = (['linked', 'unlinked'] as const).find((signal) => signal === call.query.get('done'))
    return {
      kind: 'page',
      title: texts.providers.title,
      content: html`${drawNotice(done && !problem ? texts.providers.done[done] : undefined, 'good')}
${drawNotice(problem?.notice)}
<p>${linked.length === 0 ? texts.providers.none : texts.providers.text}</p>
${linked.length > 0 && html`<ul class="rows">${linked.map((each) => drawLinked(call, each, clock.nowMs()))}</ul>`}
${drawProviderButtons(call, providers, start, free)}
<p class="aside"><a href="${homePath}">${texts.tokens.back}</a></p>`,
    }
  }
  return {
    path: linkedAccountsPath,
    audience: 'user',
    asksPassword: true,
    get: (call) => show(call),
    async post(call, form) {
      const { user, session, context } = call
      const id = form.get('unlink')
      let changed: ProvenUser
      try {
        if (!/^\d{1,15}$/.test(id)) return redirect(linkedAccountsPath)
        changed = await providers.unlink(user.id, Number(id), { context, exceptSessionId: session.id })
      } catch (error) {
        const { status, problem } = toRefusal(error, call.texts)
        return { ...(await show(call, problem)), status }
      }
      return redirect(`${linkedAccountsPath}?done=unlinked`, [service.createDevice(changed)])
    },
  }
}

/** Asks whether to link an identity that signed in with the email address of this account. */
export function createLinkFoundPage({ providers }: LinkedDeps, service: SignInService): Page {
  return {
    path: linkFoundPath,
    audience: 'user',
    asksPassword: true,
    get: async (call) => {
      const sealed = call.query.get('found') ?? ''
      const found = await providers.openFound(browserOf(call), sealed)
      if (!found) return showStale(call)
      return found.userId === call.user.id ? showQuestion(call, found, sealed) : showOther(call)
    },
    async post(call, form) {
      const browser = browserOf(call)
      const sealed = form.get('found')
      const found = await providers.openFound(browser, sealed)
      if (!found) return { ...showStale(call), status: 400 }
      if (found.userId !== call.user.id) return showOther({ ...call, url: `${linkFoundPath}?found=${sealed}` })
      try {
        await providers.linkFound(found, browser)
      } catch (error) {
        const { status, problem } = toRefusal(error, call.texts)
        return { ...showQuestion(call, found, sealed, problem), status }
      }
      return redirect(found.path === service.home ? `${linkedAccountsPath}?done=linked` : found.path)
    },
  }
}

function drawLinked(call: UserCall, { id, provider, issuer, email, createdAtMs }: LinkedProvider, nowMs: number): Html {
  const { texts } = call
  const { gone, linkedAt, unlink, unlinkOf } = texts.providers
  const name = provider?.name ?? issuer
  const details = [email, linkedAt(texts.ago(nowMs - createdAtMs)), provider ? undefined : gone]
  return drawRow(call, {
    name,
    detail: html`${details.filter((each) => each !== undefined && each !== null).join(' · ')}`,
    action: linkedAccountsPath,
    hidden: { unlink: String(id) },
    button: unlink,
    label: unlinkOf(name),
  })
}

type FoundSignIn = NonNullable<Awaited<ReturnType<PagesDeps['providers']['openFound']>>>

function showQuestion(
  { texts, session, user }: UserCall,
  { provider, person, path }: FoundSignIn,
  sealed: string,
  problem?: FormProblem,
): ShownPage {
  const { askTitle, ask, askUnnamed, askButton, notNow } = texts.providers
  return {
    kind: 'page',
    title: askTitle(provider.name),
    content: html`<p>${person.email === null ? askUnnamed(provider.name) : ask(person.email, provider.name)}</p>
<p class="hint">${user.email}</p>
${drawNotice(problem?.notice)}
${drawForm({
  action: linkFoundPath,
  formToken: session.formToken,
  hidden: { found: sealed },
  content: drawButton(askButton),
})}
<p class="aside"><a href="${path}">${notNow}</a></p>`,
  }
}

function showOther({ texts, session, user, url }: UserCall): ShownPage {
  const { otherTitle, other, otherButton } = texts.providers
  return {
    kind: 'page',
    status: 403,
    title: otherTitle,
    content: html`<p>${other(user.email)}</p>
${drawForm({
  action: signOutPath,
  formToken: session.formToken,
  hidden: { next: url },
  content: drawButton(otherButton),
})}`,
  }
}

/** For an expired request, or one of another browser. */
function showStale({ texts }: UserCall): ShownPage {
  return {
    kind: 'page',
    title: texts.providers.staleTitle,
    content: html`<p>${texts.providers.stale}</p>
<p><a class="button" href="${linkedAccountsPath}">${texts.tokens.back}</a></p>`,
  }
}

// The account page: lists the applications and browsers that have access, and revokes it.

import { AppError } from '../../../base/error.ts'
import { guessBrowser } from '../../../model/browser-name.ts'
import type { SessionRecord } from '../../../store/accounts/sessions.ts'
import type { PagesDeps } from '../deps.ts'
import { drawForm, drawNotice } from '../fields.ts'
import type { Form } from '../form.ts'
import { type Html, html } from '../html.ts'
import { type Page, redirect, type UserCall } from '../page.ts'
import {
  changeEmailPath,
  changePasswordPath,
  homePath,
  linkedAccountsPath,
  ownSecondFactorPath,
  signOutPath,
  tokensPath,
} from '../paths.ts'
import { drawRow } from '../rows.ts'
import type { Texts } from '../texts/texts.ts'

const doneSignals = ['password', 'app', 'session', 'sessions', 'shared'] as const

type AccountDeps = Pick<PagesDeps, 'sessions' | 'oauth' | 'clock' | 'audit' | 'providers'>

export function createAccountPage(deps: AccountDeps): Page {
  const { sessions, oauth, clock, audit, providers } = deps
  return {
    path: homePath,
    audience: 'user',
    async get(call) {
      const { texts, user, session, query } = call
      const [grants, browsers] = await Promise.all([oauth.grants.list(user.id), sessions.list(user.id)])
      const done = doneSignals.find((signal) => signal === query.get('done'))
      const ago = (ms: number) => drawAgo(texts, ms, clock.nowMs())
      return {
        kind: 'page',
        title: texts.account.title,
        content: html`${drawNotice(done && texts.account.done[done], 'good')}
<p class="who"><strong>${`${user.firstName} ${user.lastName}`.trim()}</strong><br>${user.email}</p>
<p class="links"><a href="${changePasswordPath}">${texts.account.changePassword}</a> <a href="${changeEmailPath}">${texts.account.changeEmail}</a> <a href="${ownSecondFactorPath}">${texts.secondFactor.title}</a> <a href="${tokensPath}">${texts.tokens.title}</a> ${providers.providers.length > 0 && html`<a href="${linkedAccountsPath}">${texts.providers.title}</a> `}<a href="${signOutPath}">${texts.account.signOut}</a></p>
<h2>${texts.account.apps}</h2>
${grants.length === 0 && html`<p class="hint">${texts.account.noApps}</p>`}
${
  grants.length > 0 &&
  html`<ul class="rows">${grants.map(({ id, appName, lastUsedAtMs }) =>
    drawRow(call, {
      name: appName,
      detail: html`${texts.account.lastUsed} ${ago(lastUsedAtMs)}`,
      action: homePath,
      hidden: { app: String(id) },
      button: texts.account.endApp,
      label: texts.account.endAppOf(appName),
    }),
  )}</ul>`
}
<h2>${texts.account.browsers}</h2>
<ul class="rows">${browsers.map((browser) => drawBrowser(call, browser, ago(browser.seenAtMs)))}</ul>
${
  browsers.length > 1 &&
  drawForm({
    action: homePath,
    formToken: session.formToken,
    hidden: { others: 'all' },
    content: html`<button class="button button-quiet">${texts.account.endOthers}</button>`,
  })
}`,
      }
    },
    async post(call, form) {
      const done = await end(call, form, deps)
      if (done !== 'app') audit.write({ event: 'session.revoked', userId: call.user.id, context: call.context })
      return redirect(`${homePath}?done=${done}`)
    },
  }
}

async function end({ user, session, context }: UserCall, form: Form, { sessions, oauth }: AccountDeps) {
  const [app, browser] = [form.get('app'), form.get('browser')]
  if (/^\d{1,15}$/.test(app)) {
    await oauth.grants.revoke(user.id, Number(app), context)
    return 'app'
  }
  if (form.get('others') !== '') {
    await sessions.endAllOfUser(user.id, session.id)
    return 'sessions'
  }
  await sessions.revoke(user.id, browser).catch((error: unknown) => {
    // Already ended, for example by a double click.
    if (!(error instanceof AppError && error.kind === 'not_found')) throw error
  })
  return 'session'
}

function drawBrowser(call: UserCall, { id, userAgent, ip }: SessionRecord, seen: Html): Html {
  const { account } = call.texts
  const name = nameBrowser(call.texts, userAgent)
  if (id === call.session.id) return drawRow(call, { name, detail: html`${account.thisBrowser} · ${ip}` })
  return drawRow(call, {
    name,
    detail: html`${account.lastUsed} ${seen} · ${ip}`,
    action: homePath,
    hidden: { browser: id },
    button: account.endBrowser,
    label: account.endBrowserOf(name),
  })
}

function nameBrowser({ account }: Texts, userAgent: string | null): string {
  const { browser, system } = guessBrowser(userAgent ?? '')
  if (browser !== undefined && system !== undefined) return account.browserOn(browser, system)
  return browser ?? system ?? account.unknownBrowser
}

function drawAgo(texts: Texts, ms: number, nowMs: number): Html {
  return html`<time datetime="${new Date(ms).toISOString()}">${texts.ago(nowMs - ms)}</time>`
}

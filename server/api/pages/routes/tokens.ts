// Manages personal access tokens. The page shows a token only once, right after it is created.

import type { PersonalTokens } from '../../../auth/personal-tokens.ts'
import { AppError } from '../../../base/error.ts'
import { accountScope, defaultScopes } from '../../../model/access.ts'
import type { Token } from '../../../store/accounts/tokens.ts'
import type { PagesDeps } from '../deps.ts'
import { drawButton, drawCheckbox, drawField, drawForm, drawNotice, type FormProblem } from '../fields.ts'
import type { Form } from '../form.ts'
import { toRefusal } from '../form-problem.ts'
import { type Html, html } from '../html.ts'
import { type Page, type PageAnswer, redirect, type ShownPage, type UserCall } from '../page.ts'
import { docsPath, homePath, tokensPath } from '../paths.ts'
import { drawRow } from '../rows.ts'

const maxNameLength = 100

type TokensDeps = Pick<PagesDeps, 'personalTokens' | 'clock'>

export function createTokensPage({ personalTokens, clock }: TokensDeps): Page {
  const show = async (call: UserCall, shown: Omit<Shown, 'tokens' | 'nowMs'> = {}): Promise<ShownPage> =>
    showTokens(call, { tokens: await personalTokens.list(call.user.id), nowMs: clock.nowMs(), ...shown })
  return {
    path: tokensPath,
    audience: 'user',
    asksPassword: true,
    get: (call) => show(call, { isRevoked: call.query.get('done') === 'revoked' }),
    async post(call, form): Promise<PageAnswer> {
      if (form.get('revoke') !== '') return revoke(call, form, personalTokens)
      const name = form.trimmed('name')
      const withAccount = form.get('account') === 'yes'
      if (name === '') {
        const problem = { fields: { name: call.texts.tokens.nameMissing } }
        return { ...(await show(call, { problem, withAccount })), status: 400 }
      }
      try {
        const { credentialsVersion } = call.session
        const owner = { userId: call.user.id, credentialsVersion, context: call.context, expiresAtMs: null }
        const made = await personalTokens.create({
          ...owner,
          name: name.slice(0, maxNameLength),
          scopes: withAccount ? [...defaultScopes, accountScope] : defaultScopes,
        })
        return await show(call, { made: made.value })
      } catch (error) {
        const { status, problem } = toRefusal(error, call.texts)
        return { ...(await show(call, { problem, name, withAccount })), status }
      }
    },
  }
}

async function revoke({ user, context }: UserCall, form: Form, tokens: PersonalTokens): Promise<PageAnswer> {
  const id = form.get('revoke')
  try {
    if (/^\d{1,15}$/.test(id)) await tokens.revoke(user.id, Number(id), context)
  } catch (error) {
    // Already revoked, for example by a double click.
    if (!(error instanceof AppError && error.kind === 'not_found')) throw error
  }
  return redirect(`${tokensPath}?done=revoked`)
}

type Shown = {
  readonly tokens: readonly Token[]
  readonly nowMs: number
  /** The new token. */
  readonly made?: string
  readonly isRevoked?: boolean
  /** Values of a form that is shown again. */
  readonly name?: string
  readonly withAccount?: boolean
  readonly problem?: FormProblem
}

function showTokens(call: UserCall, shown: Shown): ShownPage {
  const { tokens, nowMs, made, isRevoked, name = '', withAccount = false, problem } = shown
  const { texts, session } = call
  const field = drawField({
    name: 'name',
    label: texts.tokens.name,
    hint: texts.tokens.nameHint,
    autocomplete: 'off',
    maxLength: maxNameLength,
    value: name,
    problem,
  })
  const account = drawCheckbox({
    name: 'account',
    label: texts.tokens.withAccount,
    hint: texts.tokens.withAccountHint,
    isChecked: withAccount,
  })
  return {
    kind: 'page',
    title: texts.tokens.title,
    content: html`${drawNotice(isRevoked ? texts.tokens.revoked : undefined, 'good')}
${drawNotice(problem?.notice)}
${made !== undefined && drawMade(call, made)}
<p>${texts.tokens.text} <a href="${docsPath}">${texts.tokens.docs}</a></p>
${tokens.length > 0 && html`<ul class="rows">${tokens.map((token) => drawToken(call, token, nowMs))}</ul>`}
<h2>${texts.tokens.another}</h2>
${drawForm({ action: tokensPath, formToken: session.formToken, content: [field, account, drawButton(texts.tokens.button)] })}
<p class="aside"><a href="${homePath}">${texts.tokens.back}</a></p>`,
  }
}

function drawMade({ texts }: UserCall, value: string): Html {
  return html`<div class="notice notice-good" role="status"><p>${texts.tokens.made}</p>
<p class="secret"><code>${value}</code></p></div>`
}

function drawToken(call: UserCall, { id, name, prefix, lastFour, lastUsedAtMs }: Token, nowMs: number): Html {
  const { tokens, ago } = call.texts
  return drawRow(call, {
    name: name === '' ? tokens.nameless : name,
    detail: html`<code>${prefix}…${lastFour}</code> · ${lastUsedAtMs === null ? tokens.neverUsed : tokens.lastUsed(ago(nowMs - lastUsedAtMs))}`,
    action: tokensPath,
    hidden: { revoke: String(id) },
    button: tokens.revoke,
    label: tokens.revokeOf(name),
  })
}

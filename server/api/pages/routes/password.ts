// Changes the password, for which the user must know the current one; and tells how strong a new password is.

import { ratePassword } from '../../../auth/password.ts'
import type { ProvenUser } from '../../../store/accounts/proven-user.ts'
import type { PagesDeps } from '../deps.ts'
import { createOutdatedPage } from '../error-page.ts'
import { drawButton, drawCheckbox, drawField, drawForm, drawNotice, drawUsername, type FormProblem } from '../fields.ts'
import { toRefusal } from '../form-problem.ts'
import { html } from '../html.ts'
import { drawNewPassword } from '../new-person.ts'
import { type Page, redirect, type ShownPage, type UserCall } from '../page.ts'
import { changePasswordPath, homePath, passwordStrengthPath } from '../paths.ts'
import type { SignInService } from '../sign-in-service.ts'

/** For the script of pages with a field for a new password, while it is typed. Nothing of it is kept. */
export const passwordStrengthPage: Page = {
  path: passwordStrengthPath,
  audience: 'anyone',
  get: async () => redirect(changePasswordPath),
  async post(call, form) {
    const token = form.get('form_token')
    if (!call.visit.isFormToken(token) && !call.session?.isFormToken(token)) return createOutdatedPage(call)
    const strength = await ratePassword(form.get('password'), [form.get('username')])
    return { kind: 'json', status: 200, body: { strength } }
  },
}

type PasswordDeps = Pick<PagesDeps, 'accounts' | 'sessions' | 'users'>

export function createChangePasswordPage({ accounts, sessions, users }: PasswordDeps, service: SignInService): Page {
  return {
    path: changePasswordPath,
    audience: 'user',
    get: async (call) => ((await users.hasPassword(call.user.id)) ? show(call) : showFirst(call)),
    async post(call, form) {
      const { user, session, context } = call
      const { problems } = call.texts
      if (!(await users.hasPassword(user.id))) return sendFirst(call, accounts)
      const password = form.get('password')
      const newPassword = form.get('new_password')
      const revokesTokens = form.get('revoke_tokens') === 'yes'
      const refuse = (status: number, problem: FormProblem): ShownPage => ({
        ...show(call, revokesTokens, problem),
        status,
      })
      const fields = {
        password: password === '' ? problems.passwordMissing : undefined,
        new_password: newPassword === '' ? problems.newPasswordMissing : undefined,
      }
      if (fields.password !== undefined || fields.new_password !== undefined) return refuse(400, { fields })
      let changed: ProvenUser
      try {
        changed = await accounts.selfService.changePassword({
          userId: user.id,
          password,
          proof: session.id,
          hasSecondFactorProof: true,
          newPassword,
          exceptSessionId: session.id,
          revokePersonalTokens: revokesTokens,
          context,
        })
      } catch (error) {
        const { status, problem, retryAfterSeconds } = toRefusal(error, call.texts)
        return { ...refuse(status, problem), retryAfterSeconds }
      }
      const { cookie } = await sessions.renew(session)
      return redirect(`${homePath}?done=password`, [cookie, service.createDevice(changed)])
    },
  }
}

function show({ texts, session, user }: UserCall, revokesTokens = false, problem?: FormProblem): ShownPage {
  const { password, fields } = texts
  return {
    kind: 'page',
    title: password.title,
    script: 'password',
    content: html`<p>${password.text}</p>
${drawNotice(problem?.notice)}
${drawForm({
  action: changePasswordPath,
  formToken: session.formToken,
  content: [
    drawUsername(user.email),
    drawField({
      name: 'password',
      label: fields.currentPassword,
      type: 'password',
      autocomplete: 'current-password',
      problem,
      isFirst: true,
    }),
    drawNewPassword(texts, problem, { name: 'new_password', label: fields.newPassword }),
    drawCheckbox({ name: 'revoke_tokens', label: password.revokeTokens, isChecked: revokesTokens }),
    drawButton(password.button),
  ],
})}
<p class="aside"><a href="${homePath}">${password.cancel}</a></p>`,
  }
}

/** Accounts without a password set their first one by email, like users who forgot theirs. */
function showFirst({ texts, session, user }: UserCall, problem?: FormProblem): ShownPage {
  const { passwordTitle, passwordText, passwordButton } = texts.providers
  return {
    kind: 'page',
    title: passwordTitle,
    content: html`<p>${passwordText(user.email)}</p>
${drawNotice(problem?.notice)}
${drawForm({ action: changePasswordPath, formToken: session.formToken, content: drawButton(passwordButton) })}
<p class="aside"><a href="${homePath}">${texts.password.cancel}</a></p>`,
  }
}

async function sendFirst(call: UserCall, accounts: PasswordDeps['accounts']): Promise<ShownPage> {
  const { texts, user, context } = call
  try {
    await accounts.selfService.requestReset(user.email, context)
  } catch (error) {
    const { status, problem, retryAfterSeconds } = toRefusal(error, texts)
    return { ...showFirst(call, problem), status, retryAfterSeconds }
  }
  const { sentTitle, sent, sentHint } = texts.resetRequest
  return {
    kind: 'page',
    title: sentTitle,
    content: html`<p>${sent(user.email)}</p>
<p class="hint">${sentHint}</p>
<p class="aside"><a href="${homePath}">${texts.tokens.back}</a></p>`,
  }
}

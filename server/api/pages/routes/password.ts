// Another password, by somebody who knows the present one.

import type { ProvenUser } from '../../../store/proven-user.ts'
import type { PagesDeps } from '../deps.ts'
import { drawButton, drawCheckbox, drawField, drawForm, drawNotice, drawUsername, type FormProblem } from '../fields.ts'
import { toRefusal } from '../form-problem.ts'
import { html } from '../html.ts'
import { drawNewPassword } from '../new-person.ts'
import { type Page, redirect, type ShownPage, type UserCall } from '../page.ts'
import { homePath, type SignInDesk } from '../sign-in-desk.ts'

export const changePasswordPath = '/account/password/'

type PasswordDeps = Pick<PagesDeps, 'accounts' | 'sessions'>

export function createChangePasswordPage({ accounts, sessions }: PasswordDeps, desk: SignInDesk): Page {
  return {
    path: changePasswordPath,
    audience: 'user',
    get: async (call) => show(call),
    async post(call, form) {
      const { user, session, context } = call
      const { problems } = call.texts
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
        changed = await accounts.changePassword({
          userId: user.id,
          password,
          proof: session.id,
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
      return redirect(`${homePath}?done=password`, [cookie, desk.createDevice(changed)])
    },
  }
}

function show({ texts, session, user }: UserCall, revokesTokens = false, problem?: FormProblem): ShownPage {
  const { password, fields } = texts
  return {
    kind: 'page',
    title: password.title,
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

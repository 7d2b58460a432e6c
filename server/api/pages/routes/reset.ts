// Resets a forgotten password. Without a token, the page sends a link; with one, the user chooses a new password.
// Opening the page does not use the link up.

import { linkPaths } from '../../../auth/accounts/account-links.ts'
import { AppError } from '../../../base/error.ts'
import type { PagesDeps } from '../deps.ts'
import { createEmailForm } from '../email-form.ts'
import { drawButton, drawCheckbox, drawForm, drawNotice, drawUsername, type FormProblem } from '../fields.ts'
import type { Form } from '../form.ts'
import { toRefusal } from '../form-problem.ts'
import { html } from '../html.ts'
import { drawNewPassword } from '../new-person.ts'
import { type Page, type PageAnswer, type PageCall, redirect, type ShownPage } from '../page.ts'
import { signInPath } from '../paths.ts'
import type { SignInService } from '../sign-in-service.ts'

type ResetDeps = Pick<PagesDeps, 'accounts' | 'hasMailServer'>

export function createResetPage({ accounts, hasMailServer }: ResetDeps, service: SignInService): Page {
  const request = createEmailForm({
    path: linkPaths.reset,
    autocomplete: 'username',
    texts: ({ resetRequest }) => resetRequest,
    hasMailServer,
    send: (email, context) => accounts.selfService.requestReset(email, context),
  })
  return {
    path: linkPaths.reset,
    audience: 'anyone',
    async get(call) {
      const token = call.query.get('token')
      if (token === null) return request.show(call)
      const found = await accounts.selfService.findReset(token)
      return found ? showChoice(call, { token, email: found.email }) : showInvalid(call)
    },
    post: (call, form) =>
      form.get('token') === '' ? request.post(call, form) : choosePassword(call, form, { accounts, service }),
  }
}

type ChoiceParts = Pick<PagesDeps, 'accounts'> & { readonly service: SignInService }

async function choosePassword(call: PageCall, form: Form, { accounts, service }: ChoiceParts): Promise<PageAnswer> {
  const token = form.get('token')
  const password = form.get('password')
  const revokesTokens = form.get('revoke_tokens') === 'yes'
  const refuse = async (status: number, problem: FormProblem): Promise<ShownPage> => {
    const found = await accounts.selfService.findReset(token)
    return found ? { ...showChoice(call, { token, ...found, revokesTokens, problem }), status } : showInvalid(call)
  }
  const { problems } = call.texts
  if (!call.visit.isFormToken(form.get('form_token'))) return refuse(403, { notice: problems.outdated })
  if (password === '') return refuse(400, { fields: { password: problems.newPasswordMissing } })
  try {
    const user = await accounts.selfService.reset({
      token,
      password,
      revokePersonalTokens: revokesTokens,
      context: call.context,
    })
    return redirect(`${signInPath}?done=passwordChanged`, [service.createDevice(user)])
  } catch (error) {
    if (error instanceof AppError && error.kind === 'not_found') return showInvalid(call)
    const { status, problem, retryAfterSeconds } = toRefusal(error, call.texts)
    return { ...(await refuse(status, problem)), retryAfterSeconds }
  }
}

type Choice = {
  readonly token: string
  readonly email: string
  readonly revokesTokens?: boolean
  readonly problem?: FormProblem
}

function showChoice({ texts, visit }: PageCall, { token, email, revokesTokens = false, problem }: Choice): ShownPage {
  const { reset, fields } = texts
  return {
    kind: 'page',
    title: reset.title,
    script: 'password',
    content: html`<p>${reset.text}</p>
${drawNotice(problem?.notice)}
${drawForm({
  action: linkPaths.reset,
  formToken: visit.formToken,
  hidden: { token },
  content: [
    drawUsername(email),
    drawNewPassword(texts, problem, { label: fields.newPassword, isFirst: true }),
    drawCheckbox({
      name: 'revoke_tokens',
      label: reset.revokeTokens,
      hint: reset.revokeTokensHint,
      isChecked: revokesTokens,
    }),
    drawButton(reset.button),
  ],
})}`,
  }
}

function showInvalid({ texts }: PageCall): ShownPage {
  return {
    kind: 'page',
    status: 404,
    title: texts.reset.invalidTitle,
    content: html`<p>${texts.reset.invalid}</p>
<p><a class="button" href="${linkPaths.reset}">${texts.reset.another}</a></p>`,
  }
}

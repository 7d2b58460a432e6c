// Asking for an account, where everybody may have one: the link to go on with comes by mail, so that an address is its owner's.

import type { PagesDeps } from '../deps.ts'
import { drawButton, drawField, drawForm, drawNotice, type FormProblem } from '../fields.ts'
import { toRefusal } from '../form-problem.ts'
import { html } from '../html.ts'
import type { Page, PageCall, ShownPage } from '../page.ts'
import { signInPath } from '../sign-in-service.ts'
import { isEmail } from './sign-in.ts'

export const signUpPath = '/sign-up/'

export function createSignUpPage({ accounts }: Pick<PagesDeps, 'accounts'>): Page {
  return {
    path: signUpPath,
    audience: 'anyone',
    get: async (call) => show(call),
    async post(call, form) {
      const { problems, signUp } = call.texts
      const email = form.trimmed('email')
      const refuse = (status: number, problem: FormProblem, retryAfterSeconds?: number): ShownPage => ({
        ...show(call, email, problem),
        status,
        retryAfterSeconds,
      })
      if (!call.visit.isFormToken(form.get('form_token'))) return refuse(403, { notice: problems.outdated })
      const wrong = email === '' ? problems.emailMissing : isEmail(email) ? undefined : problems.emailWrong
      if (wrong !== undefined) return refuse(400, { fields: { email: wrong } })
      try {
        await accounts.signUps.requestSignUp(email, call.context)
      } catch (error) {
        const refusal = toRefusal(error, call.texts)
        return refuse(refusal.status, refusal.problem, refusal.retryAfterSeconds)
      }
      return { kind: 'page', title: signUp.sentTitle, content: html`<p>${signUp.sent(email)}</p>` }
    },
  }
}

function show({ texts, visit }: PageCall, email = '', problem?: FormProblem): ShownPage {
  const field = drawField({
    name: 'email',
    label: texts.fields.email,
    type: 'email',
    autocomplete: 'email',
    maxLength: 254,
    value: email,
    problem,
    isFirst: true,
  })
  return {
    kind: 'page',
    title: texts.signUp.title,
    content: html`<p>${texts.signUp.text}</p>
${drawNotice(problem?.notice)}
${drawForm({ action: signUpPath, formToken: visit.formToken, content: [field, drawButton(texts.signUp.button)] })}
<p class="aside"><a href="${signInPath}">${texts.resetRequest.back}</a></p>`,
  }
}

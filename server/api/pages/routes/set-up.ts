// Creates the first account of a server. The setup code proves access to the server's console.

import { linkPaths } from '../../../auth/accounts/account-links.ts'
import type { PagesDeps } from '../deps.ts'
import { drawEmailField, findEmailProblem } from '../email-form.ts'
import { drawButton, drawField, drawForm, drawNotice, type FormProblem } from '../fields.ts'
import type { Form } from '../form.ts'
import { toRefusal } from '../form-problem.ts'
import { html } from '../html.ts'
import { checkNewPerson, drawNewPerson, readNewPerson } from '../new-person.ts'
import { type Page, type PageCall, redirect, type ShownPage } from '../page.ts'
import { signInPath } from '../paths.ts'
import type { SignInService } from '../sign-in-service.ts'

export function createSetUpPage({ accounts }: Pick<PagesDeps, 'accounts'>, service: SignInService): Page {
  return {
    path: linkPaths.setup,
    audience: 'anyone',
    async get(call) {
      if (!(await accounts.signUps.isSetupPending())) return redirect(signInPath)
      return show(call, { code: call.query.get('code') ?? '' })
    },
    async post(call, form) {
      const { problems } = call.texts
      const typed = { code: form.trimmed('code'), email: form.trimmed('email'), form }
      const refuse = (status: number, problem: FormProblem, retryAfterSeconds?: number): ShownPage => ({
        ...show(call, { ...typed, problem }),
        status,
        retryAfterSeconds,
      })
      if (!call.visit.isFormToken(form.get('form_token'))) return refuse(403, { notice: problems.outdated })
      const { code, email } = typed
      const fields = {
        code: code === '' ? problems.codeMissing : undefined,
        email: findEmailProblem(email, call.texts),
        ...checkNewPerson(call.texts, form),
      }
      if (Object.values(fields).some((problem) => problem !== undefined)) return refuse(400, { fields })
      try {
        const user = await accounts.signUps.setUp({ code, email, ...readNewPerson(form), context: call.context })
        return await service.admit(call, user, { by: 'new account' })
      } catch (error) {
        const refusal = toRefusal(error, call.texts)
        return refuse(refusal.status, refusal.problem, refusal.retryAfterSeconds)
      }
    },
  }
}

type Shown = { readonly code: string; readonly email?: string; readonly form?: Form; readonly problem?: FormProblem }

function show({ texts, visit }: PageCall, { code, email = '', form, problem }: Shown): ShownPage {
  return {
    kind: 'page',
    title: texts.setUp.title,
    script: 'password',
    content: html`<p>${texts.setUp.text}</p>
${drawNotice(problem?.notice)}
${drawForm({
  action: linkPaths.setup,
  formToken: visit.formToken,
  content: [
    drawField({
      name: 'code',
      label: texts.fields.setUpCode,
      autocomplete: 'one-time-code',
      value: code,
      problem,
      isFirst: code === '',
    }),
    ...drawNewPerson(texts, {
      form,
      problem,
      isFirst: code !== '',
      account: drawEmailField(texts, { autocomplete: 'username', value: email, problem }),
    }),
    drawButton(texts.setUp.button),
  ],
})}`,
  }
}

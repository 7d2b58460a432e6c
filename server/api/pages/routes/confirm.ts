// Asks for the password again before sensitive actions, in case somebody else uses the open browser. If the account has
// a second factor, its page follows.

import type { User } from '../../../store/accounts/users.ts'
import type { PagesDeps } from '../deps.ts'
import { drawButton, drawField, drawForm, drawNotice, drawUsername, type FormProblem } from '../fields.ts'
import { toRefusal } from '../form-problem.ts'
import { html } from '../html.ts'
import type { Page, ShownPage, UserCall } from '../page.ts'
import { changePasswordPath, confirmPath, homePath } from '../paths.ts'
import type { SignInService } from '../sign-in-service.ts'
import { drawProviderButtons } from './provider-buttons.ts'

type ConfirmDeps = Pick<PagesDeps, 'login' | 'users' | 'providers'>

export function createConfirmPage(deps: ConfirmDeps, service: SignInService): Page {
  const { login, users } = deps
  return {
    path: confirmPath,
    audience: 'user',
    isOpenWithoutSecondFactor: true,
    get: async (call) => {
      const returnToName = call.query.get('return_to') ?? ''
      if (await users.hasPassword(call.user.id)) return show(call, returnToName)
      return showProviders(call, (await service.findReturnTo(call, returnToName))?.path ?? service.home, deps)
    },
    async post(call, form) {
      const { texts, user, session, context } = call
      const returnToName = form.get('return_to')
      const password = form.get('password')
      const refuse = (status: number, problem: FormProblem): ShownPage => ({
        ...show(call, returnToName, problem),
        status,
      })
      if (password === '') return refuse(400, { fields: { password: texts.problems.passwordMissing } })
      let found: User | undefined
      try {
        const input = { email: user.email, password, context, proof: session.id, via: 'confirmation' }
        found = await login.verify(input)
        if (found?.id !== user.id) return refuse(400, { fields: { password: texts.problems.passwordWrong } })
      } catch (error) {
        const { status, problem, retryAfterSeconds } = toRefusal(error, texts)
        return { ...refuse(status, problem), retryAfterSeconds }
      }
      return service.confirm(call, found, await service.findReturnTo(call, returnToName))
    },
  }
}

function show({ texts, session, user }: UserCall, returnToName: string, problem?: FormProblem): ShownPage {
  return {
    kind: 'page',
    title: texts.confirm.title,
    content: html`<p>${texts.confirm.text}</p>
${drawNotice(problem?.notice)}
${drawForm({
  action: confirmPath,
  formToken: session.formToken,
  hidden: { return_to: returnToName },
  content: [
    drawUsername(user.email),
    drawField({
      name: 'password',
      label: texts.fields.password,
      type: 'password',
      autocomplete: 'current-password',
      problem,
      isFirst: true,
    }),
    drawButton(texts.confirm.button),
  ],
})}
<p class="aside"><a href="${homePath}">${texts.password.cancel}</a></p>`,
  }
}

/** Users without a password confirm through their identity provider, which asks them to sign in again. */
async function showProviders(call: UserCall, path: string, { providers }: ConfirmDeps): Promise<ShownPage> {
  const { texts, session, user } = call
  const linked = await providers.list(user.id)
  const usable = providers.providers.filter(({ id }) => linked.some(({ provider }) => provider?.id === id))
  return {
    kind: 'page',
    title: texts.confirm.title,
    content: html`<p>${texts.providers.confirm}</p>
${drawProviderButtons(call, providers, { purpose: 'confirm', path, sessionId: session.id }, usable)}
<p class="aside"><a href="${changePasswordPath}">${texts.providers.passwordTitle}</a><br><a href="${homePath}">${texts.password.cancel}</a></p>`,
  }
}

// Signing in with e-mail and password.

import { linkPaths } from '../../../auth/accounts/account-links.ts'
import { AppError } from '../../../base/error.ts'
import { parseEmail } from '../../../model/email.ts'
import type { PagesDeps } from '../deps.ts'
import { drawButton, drawField, drawForm, drawNotice, type FormProblem } from '../fields.ts'
import type { Form } from '../form.ts'
import { toRefusal } from '../form-problem.ts'
import { html } from '../html.ts'
import { type Page, type PageAnswer, type PageCall, redirect, type ShownPage } from '../page.ts'
import { type SignInDesk, signInPath } from '../sign-in-desk.ts'
import { drawProviderButtons } from './provider-buttons.ts'
import { signUpPath } from './sign-up.ts'

export const doneSignals = ['signedOut', 'passwordChanged'] as const
type Done = (typeof doneSignals)[number]

type SignInDeps = Pick<PagesDeps, 'login' | 'accounts' | 'providers'>

export function createSignInPage(deps: SignInDeps, desk: SignInDesk): Page {
  const parts = { desk, canSignUp: deps.accounts.signUp === 'open', providers: deps.providers }
  return {
    path: signInPath,
    audience: 'anyone',
    async get(call) {
      const errandName = readErrandName(call, desk)
      if (call.session) return redirect(desk.findErrand(call, errandName)?.path ?? desk.home)
      if (await deps.accounts.isSetupPending()) return redirect(linkPaths.setup)
      const done = doneSignals.find((signal) => signal === call.query.get('done'))
      return show(call, parts, { errandName, done })
    },
    async post(call, form) {
      const errandName = form.get('errand')
      const email = form.trimmed('email')
      const refuse = (status: number, problem: FormProblem, retryAfterSeconds?: number): ShownPage => ({
        ...show(call, parts, { errandName, email, problem }),
        status,
        retryAfterSeconds,
      })
      const { problems } = call.texts
      if (!call.visit.isFormToken(form.get('form_token'))) return refuse(403, { notice: problems.outdated })
      const problem = checkFields(call, form, email)
      if (problem) return refuse(400, problem)
      try {
        const user = await deps.login.verify({
          email,
          password: form.get('password'),
          context: call.context,
          device: desk.findDevice(call),
          via: 'page',
        })
        if (!user) return refuse(400, { notice: problems.signInWrong })
        return await desk.admit(call, user, { by: 'password', errand: desk.findErrand(call, errandName) })
      } catch (error) {
        // The password was changed while it was checked.
        if (error instanceof AppError && error.kind === 'unauthenticated') {
          return refuse(400, { notice: problems.signInWrong })
        }
        const refusal = toRefusal(error, call.texts)
        return refuse(refusal.status, refusal.problem, refusal.retryAfterSeconds)
      }
    },
  }
}

/** A link to this page may name where to go on; from then on it is kept here. */
function readErrandName(call: PageCall, desk: SignInDesk): string {
  const next = call.query.get('next')
  return (next !== null && desk.keepErrand(call, { path: next })) || (call.query.get('errand') ?? '')
}

function checkFields({ texts }: PageCall, form: Form, email: string): FormProblem | undefined {
  const { problems } = texts
  const fields = {
    email: email === '' ? problems.emailMissing : isEmail(email) ? undefined : problems.emailWrong,
    password: form.get('password') === '' ? problems.passwordMissing : undefined,
  }
  return fields.email === undefined && fields.password === undefined ? undefined : { fields }
}

export function isEmail(text: string): boolean {
  try {
    return parseEmail(text) !== ''
  } catch {
    return false
  }
}

type Parts = {
  readonly desk: SignInDesk
  readonly canSignUp: boolean
  readonly providers: PagesDeps['providers']
}

type Shown = {
  readonly errandName: string
  readonly email?: string
  readonly problem?: FormProblem
  readonly done?: Done | undefined
}

function show(call: PageCall, parts: Parts, { errandName, email = '', problem, done }: Shown): ShownPage {
  const { desk, canSignUp, providers } = parts
  const { texts, visit } = call
  const errand = desk.findErrand(call, errandName)
  const password = drawField({
    name: 'password',
    label: texts.fields.password,
    type: 'password',
    autocomplete: 'current-password',
    problem,
    isFirst: email !== '',
  })
  const account = drawField({
    name: 'email',
    label: texts.fields.email,
    type: 'email',
    autocomplete: 'username',
    maxLength: 254,
    value: email,
    problem,
    isFirst: email === '',
  })
  return {
    kind: 'page',
    title: texts.signIn.title,
    leadsTo: errand?.leadsTo,
    content: html`${errand?.appName !== undefined && html`<p class="lead">${texts.signIn.forApp(errand.appName)}</p>`}
${drawNotice(done && texts.signIn.done[done], 'good')}
${drawNotice(problem?.notice)}
${drawForm({
  action: signInPath,
  formToken: visit.formToken,
  hidden: { errand: errand ? errandName : undefined },
  content: [account, password, drawButton(texts.signIn.button)],
})}
${drawProviderButtons(call, providers, { purpose: 'sign_in', path: errand?.path ?? desk.home })}
<p class="aside"><a href="${linkPaths.reset}">${texts.signIn.forgot}</a>${canSignUp && html`<br><a href="${signUpPath}">${texts.signIn.signUp}</a>`}</p>`,
  } satisfies PageAnswer
}

// Signing in with e-mail and password, or with a passkey alone.

import { linkPaths } from '../../../auth/accounts/account-links.ts'
import { AppError } from '../../../base/error.ts'
import { parseEmail } from '../../../model/email.ts'
import type { PagesDeps } from '../deps.ts'
import { drawButton, drawField, drawForm, drawNotice, type FormProblem } from '../fields.ts'
import type { Form } from '../form.ts'
import { toRefusal } from '../form-problem.ts'
import { html } from '../html.ts'
import { type Page, type PageAnswer, type PageCall, redirect, type ShownPage } from '../page.ts'
import { drawPasskeyForm, passkeyField } from '../passkey-form.ts'
import { type SignInDesk, signInPath } from '../sign-in-desk.ts'
import { drawProviderButtons } from './provider-buttons.ts'
import { signUpPath } from './sign-up.ts'

export const doneSignals = ['signedOut', 'passwordChanged', 'late'] as const
type Done = (typeof doneSignals)[number]

type SignInDeps = Pick<PagesDeps, 'login' | 'accounts' | 'secondFactors' | 'providers'>

export function createSignInPage(deps: SignInDeps, desk: SignInDesk): Page {
  const parts = { desk, canSignUp: deps.accounts.signUp === 'open', providers: deps.providers }
  const { passkeys } = deps.secondFactors
  const show = async (call: PageCall, shown: Omit<Shown, 'options'>): Promise<ShownPage> => {
    const canAsk = await deps.secondFactors.hasPasskeys()
    const options = canAsk ? await passkeys.ask({ purpose: 'alone', owner: call.visit.owner }) : undefined
    return draw(call, parts, { ...shown, options })
  }
  return {
    path: signInPath,
    audience: 'anyone',
    async get(call) {
      const errandName = readErrandName(call, desk)
      if (call.session) return redirect(desk.findErrand(call, errandName)?.path ?? desk.home)
      if (await deps.accounts.isSetupPending()) return redirect(linkPaths.setup)
      const done = doneSignals.find((signal) => signal === call.query.get('done'))
      return show(call, { errandName, done })
    },
    async post(call, form) {
      const errandName = form.get('errand')
      const email = form.trimmed('email')
      const refuse = async (status: number, problem: FormProblem, retryAfterSeconds?: number): Promise<ShownPage> => ({
        ...(await show(call, { errandName, email, problem })),
        status,
        retryAfterSeconds,
      })
      const { problems } = call.texts
      if (!call.visit.isFormToken(form.get('form_token'))) return refuse(403, { notice: problems.outdated })
      const errand = desk.findErrand(call, errandName)
      const { context } = call
      const answer = form.get(passkeyField)
      const problem = answer === '' ? checkFields(call, form, email) : undefined
      if (problem) return refuse(400, problem)
      const wrong = { notice: answer === '' ? problems.signInWrong : problems.passkeyWrong }
      try {
        if (answer !== '') {
          const found = await deps.secondFactors.findByPasskey({ text: answer, owner: call.visit.owner, context })
          return found ? await desk.admitByPasskey(call, found, errand) : await refuse(400, wrong)
        }
        const user = await deps.login.verify({
          email,
          password: form.get('password'),
          context,
          device: desk.findDevice(call),
          via: 'page',
        })
        if (!user) return await refuse(400, wrong)
        return await desk.admit(call, user, { by: 'password', errand })
      } catch (error) {
        // The password, or what else signs in, was changed while it was checked.
        if (error instanceof AppError && error.kind === 'unauthenticated') {
          return refuse(400, wrong)
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
  /** What the browser's passkeys are asked; undefined while nobody has any. */
  readonly options: object | undefined
}

function draw(call: PageCall, parts: Parts, shown: Shown): ShownPage {
  const { desk, canSignUp, providers } = parts
  const { errandName, email = '', problem, done, options } = shown
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
  const hidden = { errand: errand ? errandName : undefined }
  const form = { action: signInPath, formToken: visit.formToken, hidden }
  return {
    kind: 'page',
    title: texts.signIn.title,
    leadsTo: errand?.leadsTo,
    ...(options && { script: 'passkey' }),
    content: html`${errand?.appName !== undefined && html`<p class="lead">${texts.signIn.forApp(errand.appName)}</p>`}
${drawNotice(done && texts.signIn.done[done], 'good')}
${drawNotice(problem?.notice)}
${drawForm({ ...form, content: [account, password, drawButton(texts.signIn.button)] })}
${options && drawPasskeyForm(texts, { ...form, kind: 'known', options, content: html`<button class="button button-quiet">${texts.signIn.passkey}</button>` })}
${drawProviderButtons(call, providers, { purpose: 'sign_in', ...(errand ?? { path: desk.home }) })}
<p class="aside"><a href="${linkPaths.reset}">${texts.signIn.forgot}</a>${canSignUp && html`<br><a href="${signUpPath}">${texts.signIn.signUp}</a>`}</p>`,
  } satisfies PageAnswer
}

// Sign-in with email address and password, or with a passkey alone.

import { linkPaths } from '../../../auth/accounts/account-links.ts'
import { AppError } from '../../../base/error.ts'
import type { PagesDeps } from '../deps.ts'
import { drawEmailField, findEmailProblem } from '../email-form.ts'
import { drawButton, drawField, drawForm, drawNotice, type FormProblem } from '../fields.ts'
import type { Form } from '../form.ts'
import { toRefusal } from '../form-problem.ts'
import { html } from '../html.ts'
import { type Page, type PageAnswer, type PageCall, redirect, type ShownPage } from '../page.ts'
import { drawPasskeyForm, passkeyField } from '../passkey-form.ts'
import { signInPath, signUpPath } from '../paths.ts'
import type { SignInService } from '../sign-in-service.ts'
import { drawProviderButtons } from './provider-buttons.ts'

export const doneSignals = ['signedOut', 'passwordChanged', 'late'] as const
type Done = (typeof doneSignals)[number]

type SignInDeps = Pick<PagesDeps, 'login' | 'accounts' | 'secondFactors' | 'providers'>

export function createSignInPage(deps: SignInDeps, service: SignInService): Page {
  const parts = { service, canSignUp: deps.accounts.signUps.policy === 'open', providers: deps.providers }
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
      const returnToName = readReturnToName(call, service)
      if (call.session) return redirect((await service.findReturnTo(call, returnToName))?.path ?? service.home)
      if (await deps.accounts.signUps.isSetupPending()) return redirect(linkPaths.setup)
      const done = doneSignals.find((signal) => signal === call.query.get('done'))
      return show(call, { returnToName, done })
    },
    async post(call, form) {
      const returnToName = form.get('return_to')
      const email = form.trimmed('email')
      const refuse = async (status: number, problem: FormProblem, retryAfterSeconds?: number): Promise<ShownPage> => ({
        ...(await show(call, { returnToName, email, problem })),
        status,
        retryAfterSeconds,
      })
      const { problems } = call.texts
      if (!call.visit.isFormToken(form.get('form_token'))) return refuse(403, { notice: problems.outdated })
      const returnTo = await service.findReturnTo(call, returnToName)
      const { context } = call
      const answer = form.get(passkeyField)
      const problem = answer === '' ? checkFields(call, form, email) : undefined
      if (problem) return refuse(400, problem)
      const wrong = { notice: answer === '' ? problems.signInWrong : problems.passkeyWrong }
      try {
        if (answer !== '') {
          const found = await deps.secondFactors.findByPasskey({ text: answer, owner: call.visit.owner, context })
          return found ? await service.admitByPasskey(call, found, returnTo) : await refuse(400, wrong)
        }
        const user = await deps.login.verify({
          email,
          password: form.get('password'),
          context,
          device: service.findDevice(call),
          via: 'page',
        })
        if (!user) return await refuse(400, wrong)
        return await service.admit(call, user, { by: 'password', returnTo })
      } catch (error) {
        // The credentials were changed while they were being checked.
        if (error instanceof AppError && error.kind === 'unauthenticated') {
          return refuse(400, wrong)
        }
        const refusal = toRefusal(error, call.texts)
        return refuse(refusal.status, refusal.problem, refusal.retryAfterSeconds)
      }
    },
  }
}

/** A link to this page may name the path to return to. It is then kept sealed. */
function readReturnToName(call: PageCall, service: SignInService): string {
  const next = call.query.get('next')
  return (next !== null && service.sealReturnTo(call, { path: next })) || (call.query.get('return_to') ?? '')
}

function checkFields({ texts }: PageCall, form: Form, email: string): FormProblem | undefined {
  const { problems } = texts
  const fields = {
    email: findEmailProblem(email, texts),
    password: form.get('password') === '' ? problems.passwordMissing : undefined,
  }
  return fields.email === undefined && fields.password === undefined ? undefined : { fields }
}

type Parts = {
  readonly service: SignInService
  readonly canSignUp: boolean
  readonly providers: PagesDeps['providers']
}

type Shown = {
  readonly returnToName: string
  readonly email?: string
  readonly problem?: FormProblem
  readonly done?: Done | undefined
  /** Options for asking for a passkey; undefined if no user has one. */
  readonly options: object | undefined
}

async function draw(call: PageCall, parts: Parts, shown: Shown): Promise<ShownPage> {
  const { service, canSignUp, providers } = parts
  const { returnToName, email = '', problem, done, options } = shown
  const { texts, visit } = call
  const returnTo = await service.findReturnTo(call, returnToName)
  const password = drawField({
    name: 'password',
    label: texts.fields.password,
    type: 'password',
    autocomplete: 'current-password',
    problem,
    isFirst: email !== '',
  })
  const account = drawEmailField(texts, { autocomplete: 'username', value: email, problem, isFirst: email === '' })
  const hidden = { return_to: returnTo ? returnToName : undefined }
  const form = { action: signInPath, formToken: visit.formToken, hidden }
  return {
    kind: 'page',
    title: texts.signIn.title,
    leadsOut: returnTo?.leadsOut,
    ...(options && { script: 'passkey' }),
    content: html`${returnTo?.appName !== undefined && html`<p class="lead">${texts.signIn.forApp(returnTo.appName)}</p>`}
${drawNotice(done && texts.signIn.done[done], 'good')}
${drawNotice(problem?.notice)}
${drawForm({ ...form, content: [account, password, drawButton(texts.signIn.button)] })}
${options && drawPasskeyForm(texts, { ...form, kind: 'known', options, content: html`<button class="button button-quiet">${texts.signIn.passkey}</button>` })}
${drawProviderButtons(call, providers, { purpose: 'sign_in', ...(returnTo ?? { path: service.home }) })}
<p class="aside"><a href="${linkPaths.reset}">${texts.signIn.forgot}</a>${canSignUp && html`<br><a href="${signUpPath}">${texts.signIn.signUp}</a>`}</p>`,
  } satisfies PageAnswer
}

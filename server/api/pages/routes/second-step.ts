// Asks for the second factor after the password: a passkey, a code of the authenticator app or a recovery code. Used
// for sign-in and for confirmation.

import type { SecondFactorKind } from '../../../model/second-factor-kind.ts'
import type { SecondFactorList } from '../../../store/accounts/second-factors.ts'
import type { PagesDeps } from '../deps.ts'
import { drawButton, drawField, drawForm, drawNotice, type FormProblem } from '../fields.ts'
import { toRefusal } from '../form-problem.ts'
import { html } from '../html.ts'
import { type Page, type PageCall, redirect, type ShownPage } from '../page.ts'
import { drawPasskeyForm, passkeyField } from '../passkey-form.ts'
import { secondStepPath, signInPath } from '../paths.ts'
import type { Pending, SignInService } from '../sign-in-service.ts'

type StepDeps = Pick<PagesDeps, 'secondFactors'>

export function createSecondStepPage({ secondFactors }: StepDeps, service: SignInService): Page {
  const show = async (call: PageCall, name: string, pending: Pending, problem?: FormProblem): Promise<ShownPage> => {
    const factors = await secondFactors.list(pending.user.id)
    const { passkeys } = secondFactors
    const question = { purpose: 'second', owner: name, userId: pending.user.id } as const
    const canAsk = factors.passkeys.length > 0 && passkeys.arePossible
    return draw(call, { name, pending, factors, problem, options: canAsk ? await passkeys.ask(question) : undefined })
  }
  return {
    path: secondStepPath,
    audience: 'anyone',
    isOpenWithoutSecondFactor: true,
    async get(call) {
      const name = call.query.get('step') ?? ''
      const pending = await service.findPending(call, name)
      return pending ? show(call, name, pending) : sendBack()
    },
    async post(call, form) {
      const { problems } = call.texts
      const name = form.get('step')
      const pending = await service.findPending(call, name)
      if (!call.visit.isFormToken(form.get('form_token'))) return createOutdated(call)
      if (!pending) return sendBack()
      const refuse = async (status: number, problem: FormProblem): Promise<ShownPage> => ({
        ...(await show(call, name, pending, problem)),
        status,
      })
      const code = form.trimmed('code')
      const answer = form.get(passkeyField)
      if (code === '' && answer === '') return refuse(400, { fields: { code: problems.secondFactorMissing } })
      const { user, next } = pending
      const { context } = call
      const via = next.kind === 'confirm' ? 'confirmation' : 'page'
      let proved: SecondFactorKind | undefined
      try {
        if (answer === '') {
          proved = await secondFactors.takeCode({ user, code, context, device: service.findDevice(call), via })
        } else if (await secondFactors.isPasskeyRight({ user, text: answer, owner: name, context, via })) {
          proved = 'passkey'
        }
        if (!proved && answer === '') return await refuse(400, { fields: { code: problems.secondFactorWrong } })
        if (!proved) return await refuse(400, { notice: problems.passkeyWrong })
      } catch (error) {
        const { status, problem, retryAfterSeconds } = toRefusal(error, call.texts)
        return { ...(await refuse(status, problem)), retryAfterSeconds }
      }
      return (await service.complete(call, name, proved)) ?? sendBack()
    },
  }
}

/** Expired, completed, or from another browser: the server does not know who is signing in. */
function sendBack() {
  return redirect(`${signInPath}?done=late`)
}

function createOutdated({ texts }: PageCall): ShownPage {
  return {
    kind: 'page',
    status: 403,
    title: texts.errors.outdatedTitle,
    content: html`<p>${texts.problems.outdated}</p>
<p><a class="button" href="${signInPath}">${texts.signIn.button}</a></p>`,
  }
}

type Drawn = {
  readonly name: string
  readonly pending: Pending
  readonly factors: SecondFactorList
  /** Options for asking for a passkey; undefined if the user has none. */
  readonly options: object | undefined
  readonly problem: FormProblem | undefined
}

function draw(call: PageCall, { name, pending, factors, options, problem }: Drawn): ShownPage {
  const { texts, visit } = call
  const { secondStep } = texts
  const form = { action: secondStepPath, formToken: visit.formToken, hidden: { step: name } }
  const field = drawField({
    name: 'code',
    label: secondStep.code,
    hint: factors.appSinceMs === null ? secondStep.recoveryHint : secondStep.codeHint,
    autocomplete: 'one-time-code',
    maxLength: 64,
    problem,
    isFirst: options === undefined,
  })
  return {
    kind: 'page',
    title: secondStep.title,
    leadsOut: pending.returnTo?.leadsOut,
    ...(options && { script: 'passkey' }),
    content: html`<p>${secondStep.text(pending.user.email)}</p>
${drawNotice(problem?.notice)}
${options && drawPasskeyForm(texts, { ...form, kind: 'known', options, content: drawButton(secondStep.passkey) })}
${drawForm({ ...form, content: [field, drawButton(secondStep.button)] })}
<p class="hint">${secondStep.lost}</p>
<p class="aside"><a href="${signInPath}">${secondStep.back}</a></p>`,
  }
}

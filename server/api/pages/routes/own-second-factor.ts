// Manages the second factors of the user: passkeys, the authenticator app and recovery codes. Owners can also require a
// second factor of all owners. The page asks for a recent password, and for a recent second factor if there is one.

import { AppError } from '../../../base/error.ts'
import type { Passkey, SecondFactorList } from '../../../store/accounts/second-factors.ts'
import type { PagesDeps } from '../deps.ts'
import { drawButton, drawField, drawForm, drawNotice, type FormProblem } from '../fields.ts'
import type { Form } from '../form.ts'
import { toRefusal } from '../form-problem.ts'
import { type Html, html } from '../html.ts'
import { type Page, type PageAnswer, redirect, type ShownPage, type UserCall } from '../page.ts'
import { drawPasskeyForm, passkeyField } from '../passkey-form.ts'
import { authenticatorAppPath, homePath, ownSecondFactorPath } from '../paths.ts'
import { showRecoveryCodes } from '../recovery-codes.ts'
import { drawRow } from '../rows.ts'
import type { SignInService } from '../sign-in-service.ts'

const doneSignals = ['added', 'removed', 'required', 'notRequired'] as const
const maxPasskeyNameLength = 64

type Deps = Pick<PagesDeps, 'secondFactors' | 'clock'>

export function createOwnSecondFactorPage(deps: Deps, service: SignInService): Page {
  const { secondFactors } = deps
  const show = async (call: UserCall, problem?: FormProblem): Promise<ShownPage> => {
    const { user, session } = call
    const canAdd = secondFactors.passkeys.arePossible
    return draw(call, {
      factors: await secondFactors.list(user.id),
      options: canAdd ? await secondFactors.passkeys.askNew(user, session.id) : undefined,
      isRequired: await secondFactors.isRequiredOfOwners(),
      nowMs: deps.clock.nowMs(),
      problem,
    })
  }
  return {
    path: ownSecondFactorPath,
    audience: 'user',
    asksPassword: true,
    isOpenWithoutSecondFactor: true,
    get: (call) => show(call),
    async post(call, form) {
      try {
        return (await change(call, form, { deps, service })) ?? (await show(call))
      } catch (error) {
        // Already removed, for example by a double click.
        if (error instanceof AppError && error.kind === 'not_found') return redirect(ownSecondFactorPath)
        const { status, problem, retryAfterSeconds } = toRefusal(error, call.texts)
        return { ...(await show(call, problem)), status, retryAfterSeconds }
      }
    },
  }
}

/** Returns undefined if the form requests no known change. */
async function change(
  call: UserCall,
  form: Form,
  { deps, service }: { readonly deps: Deps; readonly service: SignInService },
): Promise<PageAnswer | undefined> {
  const { secondFactors } = deps
  const { user, session, context } = call
  const input = { user, session, context }
  const [answer, passkeyId] = [form.get(passkeyField), form.get('remove_passkey')]
  if (answer !== '') {
    const name = form.trimmed('name')
    const added = await secondFactors.addPasskey(input, { text: answer, owner: session.id, name })
    if (added.recoveryCodes) return showRecoveryCodes(call, service, { ...added, recoveryCodes: added.recoveryCodes })
    return redirect(`${ownSecondFactorPath}?done=added`, [service.createDevice(added.user)])
  }
  if (form.get('codes') === 'new') {
    return showRecoveryCodes(call, service, await secondFactors.replaceRecoveryCodes(input))
  }
  if (passkeyId !== '' || form.get('remove_app') === 'yes') {
    const changed =
      passkeyId === '' ? await secondFactors.removeApp(input) : await secondFactors.removePasskey(input, passkeyId)
    return redirect(`${ownSecondFactorPath}?done=removed`, [service.createDevice(changed)])
  }
  const choice = form.get('owners')
  // Only owners who have a second factor may require one.
  if (!/^(need|free)$/.test(choice) || !user.isOwner || !user.hasSecondFactor) return undefined
  await secondFactors.require(choice === 'need', input)
  return redirect(`${ownSecondFactorPath}?done=${choice === 'need' ? 'required' : 'notRequired'}`)
}

type Drawn = {
  readonly factors: SecondFactorList
  /** Options for creating a passkey; undefined if passkeys are not available. */
  readonly options: object | undefined
  readonly isRequired: boolean
  readonly nowMs: number
  readonly problem: FormProblem | undefined
}

function draw(call: UserCall, drawn: Drawn): ShownPage {
  const { texts, user, session, query } = call
  const { factors, options, isRequired, problem } = drawn
  const { secondFactor } = texts
  const done = doneSignals.find((signal) => signal === query.get('done'))
  return {
    kind: 'page',
    title: secondFactor.title,
    ...(options && { script: 'passkey' }),
    content: html`${drawNotice(session.needsSecondFactor && isRequired ? secondFactor.needed : undefined)}
${drawNotice(done && secondFactor.done[done], 'good')}
${drawNotice(problem?.notice)}
<p>${user.hasSecondFactor ? secondFactor.textOn : secondFactor.textOff}</p>
<h2>${secondFactor.passkeys}</h2>
<p>${secondFactor.passkeysText}</p>
${factors.passkeys.length > 0 && html`<ul class="rows">${factors.passkeys.map((passkey) => drawPasskey(call, passkey, drawn.nowMs))}</ul>`}
${options ? drawNewPasskey(call, options, problem) : html`<p class="hint">${secondFactor.noPasskeys}</p>`}
<h2>${secondFactor.app}</h2>
<p>${secondFactor.appText}</p>
${drawApp(call, factors, drawn.nowMs)}
${user.hasSecondFactor && drawCodes(call, factors)}
${user.isOwner && user.hasSecondFactor && drawRule(call, isRequired)}
<p class="aside"><a href="${homePath}">${texts.tokens.back}</a></p>`,
  }
}

function drawPasskey(call: UserCall, { id, name, lastUsedAtMs, createdAtMs }: Passkey, nowMs: number): Html {
  const { secondFactor, ago } = call.texts
  const shown = name === '' ? secondFactor.nameless : name
  return drawRow(call, {
    name: shown,
    detail: html`${lastUsedAtMs === null ? secondFactor.addedAgo(ago(nowMs - createdAtMs)) : secondFactor.usedAgo(ago(nowMs - lastUsedAtMs))}`,
    action: call.url,
    hidden: { remove_passkey: id },
    button: secondFactor.remove,
    label: secondFactor.removeOf(shown),
  })
}

function drawNewPasskey({ texts, session, url }: UserCall, options: object, problem: FormProblem | undefined): Html {
  const { secondFactor } = texts
  const name = drawField({
    name: 'name',
    label: secondFactor.passkeyName,
    hint: secondFactor.passkeyNameHint,
    autocomplete: 'off',
    isOptional: true,
    maxLength: maxPasskeyNameLength,
    problem,
  })
  const form = { action: url, formToken: session.formToken, kind: 'new', options } as const
  return html`${drawPasskeyForm(texts, { ...form, content: [name, drawButton(secondFactor.addPasskey)] })}
<p class="hint" data-without-passkeys>${secondFactor.noScript}</p>`
}

function drawApp(call: UserCall, { appSinceMs }: SecondFactorList, nowMs: number): Html {
  const { secondFactor, ago } = call.texts
  if (appSinceMs === null) {
    const returnTo = call.query.get('return_to') ?? ''
    const path =
      returnTo === '' ? authenticatorAppPath : `${authenticatorAppPath}?return_to=${encodeURIComponent(returnTo)}`
    return html`<p><a class="button" href="${path}">${secondFactor.addApp}</a></p>`
  }
  const row = drawRow(call, {
    name: secondFactor.app,
    detail: html`${secondFactor.addedAgo(ago(nowMs - appSinceMs))}`,
    action: call.url,
    hidden: { remove_app: 'yes' },
    button: secondFactor.remove,
    label: secondFactor.removeOf(secondFactor.app),
  })
  return html`<ul class="rows">${row}</ul>`
}

function drawCodes({ texts, session, url }: UserCall, { recoveryCodesLeft }: SecondFactorList): Html {
  const { secondFactor } = texts
  return html`<h2>${secondFactor.codes}</h2>
<p>${secondFactor.codesLeft(recoveryCodesLeft)}</p>
${drawForm({
  action: url,
  formToken: session.formToken,
  hidden: { codes: 'new' },
  content: html`<button class="button button-quiet">${secondFactor.newCodes}</button>`,
})}`
}

function drawRule({ texts, session, url }: UserCall, isRequired: boolean): Html {
  const { secondFactor } = texts
  return html`<h2>${secondFactor.owners}</h2>
<p>${isRequired ? secondFactor.ownersNeed : secondFactor.ownersFree}</p>
${drawForm({
  action: url,
  formToken: session.formToken,
  hidden: { owners: isRequired ? 'free' : 'need' },
  content: html`<button class="button button-quiet">${isRequired ? secondFactor.freeOwners : secondFactor.askOwners}</button>`,
})}`
}

// Adds an authenticator app. The page shows the secret as a QR code and as text, and asks for a first code to confirm
// it.

import type { AppSecret } from '../../../auth/second-factor/second-factor-service.ts'
import type { PagesDeps } from '../deps.ts'
import { drawButton, drawField, drawForm, drawNotice, type FormProblem } from '../fields.ts'
import { toRefusal } from '../form-problem.ts'
import { html } from '../html.ts'
import { type Page, redirect, type ShownPage, type UserCall } from '../page.ts'
import { authenticatorAppPath, ownSecondFactorPath } from '../paths.ts'
import { PendingItems } from '../pending-items.ts'
import { drawQrCode } from '../qr-code.ts'
import { showRecoveryCodes } from '../recovery-codes.ts'
import type { SignInService } from '../sign-in-service.ts'

const lifetimeMs = 15 * 60_000

type AppDeps = Pick<PagesDeps, 'secondFactors' | 'usedValues' | 'pendingKey' | 'clock'>

export function createAuthenticatorAppPage(deps: AppDeps, service: SignInService): Page {
  const { secondFactors, usedValues: used, pendingKey: key, clock } = deps
  /** Secrets that are not confirmed yet, as base64url. They are sealed, so that the browser cannot replace them. */
  const secrets = new PendingItems<{ readonly secret: string }>({ key, kind: 'app secret', lifetimeMs, clock, used })
  return {
    path: authenticatorAppPath,
    audience: 'user',
    asksPassword: true,
    isOpenWithoutSecondFactor: true,
    async get(call) {
      const app = secondFactors.createAppSecret(call.user)
      return show(call, app, secrets.put(call.session.id, { secret: Buffer.from(app.secret).toString('base64url') })!)
    },
    async post(call, form) {
      const { user, session, context, texts } = call
      const item = form.get('secret')
      const pending = await secrets.find(session.id, item)
      // Expired or added already: the page shows a new secret.
      if (!pending) return redirect(call.url)
      const app = secondFactors.createAppSecret(user, Buffer.from(pending.secret, 'base64url'))
      const code = form.trimmed('code')
      const refuse = (status: number, problem: FormProblem): ShownPage => ({
        ...show(call, app, item, problem),
        status,
      })
      if (code === '') return refuse(400, { fields: { code: texts.problems.secondFactorMissing } })
      try {
        const added = await secondFactors.addApp({ user, session, context }, app, code)
        await secrets.take(session.id, item, user.id)
        if (added.recoveryCodes)
          return showRecoveryCodes(call, service, { ...added, recoveryCodes: added.recoveryCodes })
        return redirect(`${ownSecondFactorPath}?done=added`, [service.createDevice(added.user)])
      } catch (error) {
        const { status, problem, retryAfterSeconds } = toRefusal(error, texts)
        return { ...refuse(status, problem), retryAfterSeconds }
      }
    },
  }
}

function show(
  { texts, session, url }: UserCall,
  { uri, typed }: AppSecret,
  item: string,
  problem?: FormProblem,
): ShownPage {
  const { authenticatorApp } = texts
  const field = drawField({
    name: 'code',
    label: authenticatorApp.code,
    hint: authenticatorApp.codeHint,
    autocomplete: 'one-time-code',
    maxLength: 16,
    problem,
  })
  return {
    kind: 'page',
    title: authenticatorApp.title,
    content: html`<p>${authenticatorApp.text}</p>
${drawNotice(problem?.notice)}
${drawQrCode(uri, authenticatorApp.qrCode)}
<p>${authenticatorApp.typed}</p>
<p class="secret"><code>${typed}</code></p>
${drawForm({
  action: url,
  formToken: session.formToken,
  hidden: { secret: item },
  content: [field, drawButton(authenticatorApp.button)],
})}
<p class="aside"><a href="${ownSecondFactorPath}">${texts.password.cancel}</a></p>`,
  }
}

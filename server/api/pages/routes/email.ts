// Changes the email address: one page sends a link to the new address, and the page behind the link confirms it.

import { linkPaths } from '../../../auth/accounts/account-links.ts'
import { AppError } from '../../../base/error.ts'
import type { ProvenUser } from '../../../store/accounts/proven-user.ts'
import type { PagesDeps } from '../deps.ts'
import { drawEmailField, findEmailProblem } from '../email-form.ts'
import { drawButton, drawField, drawForm, drawNotice, type FormProblem } from '../fields.ts'
import { toRefusal } from '../form-problem.ts'
import { html } from '../html.ts'
import type { Page, PageCall, ShownPage, UserCall } from '../page.ts'
import { changeEmailPath, homePath, signOutPath } from '../paths.ts'
import type { SignInService } from '../sign-in-service.ts'

export function createChangeEmailPage({ accounts }: Pick<PagesDeps, 'accounts'>): Page {
  return {
    path: changeEmailPath,
    audience: 'user',
    get: async (call) => showRequest(call),
    async post(call, form) {
      const { problems, email: texts } = call.texts
      const email = form.trimmed('email')
      const password = form.get('password')
      const refuse = (status: number, problem: FormProblem): ShownPage => ({
        ...showRequest(call, email, problem),
        status,
      })
      const fields = {
        email: findEmailProblem(email, call.texts),
        password: password === '' ? problems.passwordMissing : undefined,
      }
      if (fields.email !== undefined || fields.password !== undefined) return refuse(400, { fields })
      try {
        const { user, session, context } = call
        const proof = { proof: session.id, hasSecondFactorProof: true }
        await accounts.selfService.requestEmailChange({ userId: user.id, email, password, ...proof, context })
      } catch (error) {
        const { status, problem, retryAfterSeconds } = toRefusal(error, call.texts)
        return { ...refuse(status, problem), retryAfterSeconds }
      }
      return {
        kind: 'page',
        title: texts.sentTitle,
        content: html`<p>${texts.sent(email)}</p>
<p class="aside"><a href="${homePath}">${texts.back}</a></p>`,
      }
    },
  }
}

export function createConfirmEmailPage({ accounts }: Pick<PagesDeps, 'accounts'>, service: SignInService): Page {
  const open = async (call: UserCall, token: string): Promise<ShownPage> => {
    const found = await accounts.selfService.findEmailChange(token)
    if (!found) return showInvalid(call)
    return found.userId === call.user.id ? showConfirm(call, token, found.email) : showOther(call)
  }
  return {
    path: linkPaths.email,
    // The link alone proves access to the mailbox, but not to the account.
    audience: 'user',
    get: (call) => open(call, call.query.get('token') ?? ''),
    async post(call, form) {
      const { user, session, context } = call
      let changed: ProvenUser
      try {
        const token = form.get('token')
        changed = await accounts.selfService.confirmEmail({
          token,
          userId: user.id,
          exceptSessionId: session.id,
          context,
        })
      } catch (error) {
        const isUsed = error instanceof AppError && (error.kind === 'not_found' || error.kind === 'conflict')
        if (isUsed) return showInvalid(call)
        throw error
      }
      const { email, errors } = call.texts
      return {
        kind: 'page',
        title: email.doneTitle,
        cookies: [service.createDevice(changed)],
        content: html`<p>${email.done}</p>
<p><a href="/">${errors.home}</a></p>`,
      }
    },
  }
}

function showRequest({ texts, session, user }: UserCall, typed = '', problem?: FormProblem): ShownPage {
  const email = drawEmailField(texts, {
    label: texts.email.newAddress,
    autocomplete: 'email',
    value: typed,
    problem,
    isFirst: true,
  })
  const password = drawField({
    name: 'password',
    label: texts.fields.password,
    type: 'password',
    autocomplete: 'current-password',
    problem,
  })
  return {
    kind: 'page',
    title: texts.email.requestTitle,
    content: html`<p>${texts.email.requestText(user.email)}</p>
${drawNotice(problem?.notice)}
${drawForm({
  action: changeEmailPath,
  formToken: session.formToken,
  content: [email, password, drawButton(texts.email.requestButton)],
})}
<p class="aside"><a href="${homePath}">${texts.password.cancel}</a></p>`,
  }
}

function showConfirm({ texts, session, user, url }: UserCall, token: string, email: string): ShownPage {
  return {
    kind: 'page',
    title: texts.email.title,
    content: html`<p>${texts.email.text(email, user.email)}</p>
${drawForm({
  action: url,
  formToken: session.formToken,
  hidden: { token },
  content: drawButton(texts.email.button),
})}`,
  }
}

/** For a browser in which another user is signed in. */
function showOther({ texts, session, user, url }: UserCall): ShownPage {
  return {
    kind: 'page',
    status: 403,
    title: texts.email.otherTitle,
    content: html`<p>${texts.email.other(user.email)}</p>
${drawForm({
  action: signOutPath,
  formToken: session.formToken,
  hidden: { next: url },
  content: drawButton(texts.email.otherButton),
})}`,
  }
}

function showInvalid({ texts }: PageCall): ShownPage {
  return {
    kind: 'page',
    status: 404,
    title: texts.email.invalidTitle,
    content: html`<p>${texts.email.invalid}</p>
<p><a href="/">${texts.errors.home}</a></p>`,
  }
}

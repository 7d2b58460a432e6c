// The page of an invitation: creates an account for the email address that the link was sent to. Opening the page does
// not use the link up, because mail scanners open links.

import { linkPaths } from '../../../auth/accounts/account-links.ts'
import type { Invitation } from '../../../auth/accounts/sign-up-service.ts'
import { AppError } from '../../../base/error.ts'
import { quoteName } from '../../../model/quoted-name.ts'
import type { PagesDeps } from '../deps.ts'
import { drawButton, drawForm, drawNotice, drawUsername, type FormProblem } from '../fields.ts'
import type { Form } from '../form.ts'
import { toRefusal } from '../form-problem.ts'
import { html } from '../html.ts'
import { checkNewPerson, drawNewPerson, readNewPerson } from '../new-person.ts'
import type { Page, PageCall, ShownPage } from '../page.ts'
import { homePath, signInPath } from '../paths.ts'
import type { SignInService } from '../sign-in-service.ts'
import type { Texts } from '../texts/texts.ts'

export function createInvitationPage({ accounts }: Pick<PagesDeps, 'accounts'>, service: SignInService): Page {
  const open = async (call: PageCall, token: string, sent?: { form: Form; problem: FormProblem }) => {
    const found = await accounts.signUps.findInvitation(token)
    if (!found) return showInvalid(call)
    return found.hasAccount ? showMember(call, found) : show(call, { ...found, token, ...sent })
  }
  return {
    path: linkPaths.invitation,
    audience: 'anyone',
    get: (call) => open(call, call.query.get('token') ?? ''),
    async post(call, form) {
      const token = form.get('token')
      const refuse = async (status: number, problem: FormProblem, retryAfterSeconds?: number): Promise<ShownPage> => ({
        ...(await open(call, token, { form, problem })),
        status,
        retryAfterSeconds,
      })
      if (!call.visit.isFormToken(form.get('form_token'))) return refuse(403, { notice: call.texts.problems.outdated })
      const fields = checkNewPerson(call.texts, form)
      if (Object.values(fields).some((problem) => problem !== undefined)) return refuse(400, { fields })
      const invitation = await accounts.signUps.findInvitation(token)
      try {
        const user = await accounts.signUps.acceptInvitation({ token, ...readNewPerson(form), context: call.context })
        return await service.admit(call, user, {
          by: 'new account',
          returnTo: { path: pathAfter(invitation, service.home) },
        })
      } catch (error) {
        if (error instanceof AppError && error.kind === 'not_found') return showInvalid(call)
        const refusal = toRefusal(error, call.texts)
        return refuse(refusal.status, refusal.problem, refusal.retryAfterSeconds)
      }
    },
  }
}

type Shown = Invitation & { readonly token: string; readonly form?: Form; readonly problem?: FormProblem }

function show({ texts, visit }: PageCall, { token, email, form, problem, ...from }: Shown): ShownPage {
  const { invitation } = texts
  return {
    kind: 'page',
    title: invitation.title,
    script: 'password',
    content: html`<p>${describe(texts, from)}</p>
<p class="hint">${invitation.forEmail} <strong>${email}</strong></p>
${drawNotice(problem?.notice)}
${drawForm({
  action: linkPaths.invitation,
  formToken: visit.formToken,
  hidden: { token },
  content: [
    ...drawNewPerson(texts, { form, problem, isFirst: true, account: drawUsername(email) }),
    drawButton(invitation.button),
  ],
})}`,
  }
}

function describe(
  { invitation, quotationMarks }: Texts,
  { inviterEmail, camera }: Pick<Invitation, 'inviterEmail' | 'camera'>,
) {
  if (inviterEmail === undefined) return invitation.text
  if (camera === undefined) return invitation.textFrom(inviterEmail)
  return invitation.textShared(inviterEmail, quoteName(camera.name, quotationMarks))
}

/** The dashboard shows the camera that the guest was invited to. Without a dashboard, the account page explains it. */
function pathAfter(invitation: Invitation | undefined, home: string): string {
  const camera = invitation?.camera
  if (!camera) return home
  return home === homePath ? `${homePath}?done=shared` : `/shared/${camera.id}`
}

/** For a second link that is opened after another one was used. */
function showMember({ texts }: PageCall, { email }: Invitation): ShownPage {
  return {
    kind: 'page',
    title: texts.invitation.memberTitle,
    content: html`<p>${texts.invitation.member(email)}</p>
<p><a href="${signInPath}">${texts.signIn.button}</a></p>`,
  }
}

function showInvalid({ texts }: PageCall): ShownPage {
  return {
    kind: 'page',
    status: 404,
    title: texts.invitation.invalidTitle,
    content: html`<p>${texts.invitation.invalid}</p>
<p><a href="/">${texts.errors.home}</a></p>`,
  }
}

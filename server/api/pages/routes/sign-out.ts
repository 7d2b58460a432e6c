// Signs the user out. GET only asks, so that links and prefetching browsers do not sign anybody out.

import type { PagesDeps } from '../deps.ts'
import { drawButton, drawForm } from '../fields.ts'
import { html } from '../html.ts'
import { type Page, redirect } from '../page.ts'
import { homePath, signInPath, signOutPath } from '../paths.ts'
import type { SignInService } from '../sign-in-service.ts'

export function createSignOutPage(
  { sessions, audit }: Pick<PagesDeps, 'sessions' | 'audit'>,
  service: SignInService,
): Page {
  return {
    path: signOutPath,
    audience: 'user',
    isOpenWithoutSecondFactor: true,
    async get({ texts, user, session }) {
      return {
        kind: 'page',
        title: texts.signOut.title,
        content: html`<p>${texts.signOut.text(user.email)}</p>
${drawForm({ action: signOutPath, formToken: session.formToken, content: drawButton(texts.signOut.button) })}
<p class="aside"><a href="${homePath}">${texts.signOut.stay}</a></p>`,
      }
    },
    /** `next` is the path to return to after signing in again. */
    async post(call, form) {
      const { cookie } = await sessions.end(call.session)
      audit.write({ event: 'session.ended', userId: call.user.id, context: call.context })
      const { location } = service.sendToSignIn(call, { path: form.get('next') })
      return redirect(location === signInPath ? `${signInPath}?done=signedOut` : location, [cookie])
    },
  }
}

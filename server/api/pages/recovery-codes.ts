// The page that shows new recovery codes, once.

import type { NewRecoveryCodes } from '../../auth/second-factor/second-factor-options.ts'
import { html } from './html.ts'
import type { ShownPage, UserCall } from './page.ts'
import { ownSecondFactorPath } from './paths.ts'
import type { SignInService } from './sign-in-service.ts'

export async function showRecoveryCodes(
  call: UserCall,
  service: SignInService,
  { user, recoveryCodes }: NewRecoveryCodes,
): Promise<ShownPage> {
  const { recoveryCodes: texts } = call.texts
  const returnTo = await service.findReturnTo(call, call.query.get('return_to') ?? '')
  return {
    kind: 'page',
    title: texts.title,
    cookies: [service.createDevice(user)],
    content: html`<p>${texts.text}</p>
<ul class="secret codes">${recoveryCodes.map((code) => html`<li><code>${code}</code></li>`)}</ul>
<p><a class="button button-quiet" download="nightjar-recovery-codes.txt" href="${asFile(recoveryCodes)}">${texts.download}</a></p>
<p>${texts.once}</p>
<p><a class="button" href="${returnTo?.path ?? ownSecondFactorPath}">${texts.next}</a></p>`,
  }
}

function asFile(codes: readonly string[]): string {
  return `data:text/plain;charset=utf-8,${encodeURIComponent(`${codes.join('\n')}\n`)}`
}

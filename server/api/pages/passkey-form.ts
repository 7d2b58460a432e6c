// A form whose answer comes from the browser's passkeys: hidden until the script (look/passkey.js) has found that there are any, so that
// nobody sees a button that does nothing.

import { drawForm, type FormOptions } from './fields.ts'
import { html } from './html.ts'
import type { Texts } from './texts/texts.ts'

/** Of the hidden field that the script fills. */
export const passkeyField = 'passkey'

export type PasskeyFormOptions = FormOptions & {
  /** To make one, or to be asked for one. */
  readonly kind: 'new' | 'known'
  /** As the server's library wrote them. */
  readonly options: object
}

export function drawPasskeyForm(texts: Texts, { kind, options, content, hidden, ...form }: PasskeyFormOptions) {
  return drawForm({
    ...form,
    hidden: { ...hidden, [passkeyField]: '' },
    attributes: { 'data-passkey': kind, 'data-options': JSON.stringify(options), hidden: '' },
    content: html`${content}
<p class="error" role="alert" data-problem hidden>${texts.passkeys.failed}</p>`,
  })
}

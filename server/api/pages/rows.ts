// A list of items that have access to an account, each with a button to remove it.

import { drawForm } from './fields.ts'
import { type Html, html } from './html.ts'
import type { UserCall } from './page.ts'

export type RowOptions = {
  readonly name: string
  readonly detail: Html
  /** `action`, `hidden` and `button` define the form that removes the item. */
  readonly action?: string
  readonly hidden?: Readonly<Record<string, string>>
  readonly button?: string
  /** The accessible name of the button. It must contain the text of the button. */
  readonly label?: string
}

export function drawRow({ session }: UserCall, { name, detail, action, hidden = {}, button, label }: RowOptions): Html {
  const form =
    action !== undefined &&
    drawForm({
      action,
      formToken: session.formToken,
      hidden,
      content: html`<button class="button button-small button-quiet" aria-label="${label}">${button}</button>`,
    })
  return html`<li><div><strong>${name}</strong><br><span class="hint">${detail}</span></div>${form}</li>`
}

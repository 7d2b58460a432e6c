// A list of what may get into an account, with a button to end each.

import { drawForm } from './fields.ts'
import { type Html, html } from './html.ts'
import type { UserCall } from './page.ts'

export type RowOptions = {
  readonly name: string
  readonly detail: Html
  /** Together: the form that ends it. */
  readonly action?: string
  readonly hidden?: Readonly<Record<string, string>>
  readonly button?: string
  /** What the button does, for those who do not see the row. */
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

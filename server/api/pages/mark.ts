// The mark beside the name: a nightjar flying before the evening's moon. The same drawing, with colours of its own, is the icon
// (look/nightjar.svg).

import { type Html, html } from './html.ts'

export function drawMark(): Html {
  return html`<svg class="mark" viewBox="0 0 48 48" width="40" height="40" aria-hidden="true" focusable="false"><circle class="mark-moon" cx="29" cy="19" r="13"/><path class="mark-bird" d="M2 15c7 0 13 3 17.500 8 1.500-.6 3.200-.5 4.500.4C29 15 37 9.500 46 9c-6 4.500-10 9.500-13.500 16-1.800 3.400-4.200 5.600-7 6.800L28 43l-5.500-6-5 4.500 1.700-9.800C12 29 6 23 2 15Z"/></svg>`
}

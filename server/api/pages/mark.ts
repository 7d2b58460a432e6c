// The logo beside the name: a nightjar on its branch in front of the moon. look/nightjar.svg, the icon, is the same
// drawing.

import { type Html, html } from './html.ts'

export function drawMark(): Html {
  return html`<svg class="mark" viewBox="0 0 48 48" width="44" height="44" aria-hidden="true" focusable="false"><circle class="mark-moon" cx="24" cy="24" r="22"/><path class="mark-bird" d="M8.500 22.600c1.300-.3 2.200-1.100 3.100-2.300 1.500-2 3.800-3.300 6.300-3.300 2.200 0 4 .8 5.500 2.100 5.500.8 9.800 3.500 13.600 7l7.500 5.400-9.200-.4c-3 1.500-7 2.300-11.300 2.300-7.300 0-12.300-3.600-13.200-8.700-.8-.4-1.700-1.100-2.300-2.100Z"/><circle class="mark-moon" cx="16" cy="21.700" r="1.500"/><path class="mark-branch" d="M5.500 35.500c9-1.700 24 .3 37-2.300M30 34.300c3 .6 5 2.300 6 4.700"/></svg>`
}

// A QR code as SVG in the page: nothing is asked of anybody to draw it, since it holds a secret.

import { encode } from 'uqr'
import { type Html, html } from './html.ts'

/** ISO/IEC 18004 section 9.1: light all around, four squares wide. */
const quietSquares = 4

/** `label`: for those who do not see it. Black on white in dark colours too, as cameras need it. */
export function drawQrCode(text: string, label: string): Html {
  const { data, size } = encode(text, { ecc: 'M', border: quietSquares })
  const squares = data.flatMap((row, y) => row.flatMap((isBlack, x) => (isBlack ? [`M${x} ${y}h1v1h-1z`] : [])))
  return html`<svg class="qr-code" viewBox="0 0 ${size} ${size}" role="img" aria-label="${label}" shape-rendering="crispEdges"><rect width="${size}" height="${size}" fill="#fff"/><path d="${squares.join('')}" fill="#000"/></svg>`
}

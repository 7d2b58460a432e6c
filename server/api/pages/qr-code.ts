// Renders a QR code as inline SVG. No external service is involved because the code contains a secret.

import { encode } from 'uqr'
import { type Html, html } from './html.ts'

/** ISO/IEC 18004 section 9.1: the margin is four squares wide. */
const quietSquares = 4

/** `label` is read by screen readers. The code is black on white in dark mode too, because cameras need it. */
export function drawQrCode(text: string, label: string): Html {
  const { data, size } = encode(text, { ecc: 'M', border: quietSquares })
  const squares = data.flatMap((row, y) => row.flatMap((isBlack, x) => (isBlack ? [`M${x} ${y}h1v1h-1z`] : [])))
  return html`<svg class="qr-code" viewBox="0 0 ${size} ${size}" role="img" aria-label="${label}" shape-rendering="crispEdges"><rect width="${size}" height="${size}" fill="#fff"/><path d="${squares.join('')}" fill="#000"/></svg>`
}

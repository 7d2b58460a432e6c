// What a camera burns into its picture: its name, the date and time, the frame number and the time code strip.

import { drawTimeCode, timeCodeHeight, timeCodeWidth } from '../time-code.ts'
import { signColumns, signRows, traceText } from './font.ts'
import type { Painter } from './paint.ts'
import { colour } from './picture.ts'

const whiteLuma = 235
const shade = colour('#0a0d14')

export type Caption = {
  /** Shown as the camera's name. */
  readonly name: string
  /** The camera's clock, Unix milliseconds. */
  readonly unixMs: number
  readonly frameNumber: number
}

/**
 * Name on the upper right, `2026-11-21 08:15:30.2 UTC` on the upper left, the time code and frame number along the
 * foot.
 */
export function paintCaption(painter: Painter, { name, unixMs, frameNumber }: Caption): void {
  const { picture } = painter
  const iso = new Date(unixMs).toISOString()
  paintText(painter, `${iso.slice(0, 10)} ${iso.slice(11, 21)} UTC`, 20, 18, 3)
  paintText(painter, name, 940 - textWidth(name, 3), 18, 3)
  const top = 540 * (1 - timeCodeHeight)
  painter.rectangle(0, top, 960, 540 - top, shade)
  drawTimeCode(picture.y, picture.width, picture.height, { unixMs, frameNumber })
  const foot = `#${String(frameNumber).padStart(8, '0')}`
  const left = 960 * timeCodeWidth
  paintText(painter, foot, left + (960 - left - textWidth(foot, 2)) / 2, top + (540 - top - signRows * 2) / 2, 2)
}

function textWidth(text: string, size: number): number {
  return text.length * signColumns * size
}

/** White dots of `size` on a soft dark plate, legible on any ground. Whole pixels of luma only: quick, and no fringes. */
function paintText(painter: Painter, text: string, x: number, y: number, size: number): void {
  const { width, height, y: luma } = painter.picture
  const pad = size * 2
  painter.rectangle(x - pad, y - pad, textWidth(text, size) - size + pad * 2, signRows * size + pad * 2, shade, 0.5)
  const scaleX = width / 960
  const scaleY = height / 540
  traceText(text, (column, row, length) => {
    const left = Math.max(0, Math.round((x + column * size) * scaleX))
    const right = Math.min(width, Math.round((x + (column + length) * size) * scaleX))
    const bottom = Math.min(height, Math.round((y + (row + 1) * size) * scaleY))
    for (let line = Math.max(0, Math.round((y + row * size) * scaleY)); line < bottom; line++) {
      luma.fill(whiteLuma, line * width + left, line * width + right)
    }
  })
}

// Ticks of one clock as ticks of another, and the clocks of a file's tracks. ISO/IEC 14496-12 8.4.2.

import { AppError } from '../../base/error.ts'
import { type ScannedBox, scanBoxes } from './box-scanner.ts'

/**
 * Ticks of 90 kHz as ticks of another timescale, rounded. The recorder and playback round with this alone, so that what one
 * subtracts the other adds.
 */
export function scaleTicks(ticks90k: number, timescale: number): number {
  return Math.round((ticks90k * timescale) / 90_000)
}

/** Timescale of each track, by track id, from an initialization section. Throws 'corrupt'. */
export function parseTimescales(init: Uint8Array): ReadonlyMap<number, number> {
  const timescales = new Map<number, number>()
  const view = new DataView(init.buffer, init.byteOffset, init.byteLength)
  for (const moov of children(init, undefined, 'moov')) {
    for (const trak of children(init, moov, 'trak')) {
      const [tkhd] = children(init, trak, 'tkhd')
      const [mdia] = children(init, trak, 'mdia')
      const [mdhd] = mdia ? children(init, mdia, 'mdhd') : []
      if (!tkhd || !mdhd) throw new AppError('corrupt', 'expected tkhd and mdhd in trak')
      timescales.set(readAfterTimes(view, tkhd), readAfterTimes(view, mdhd))
    }
  }
  return timescales
}

function children(bytes: Uint8Array, parent: ScannedBox | undefined, type: string): ScannedBox[] {
  const { boxes } = parent
    ? scanBoxes(bytes, parent.offset + parent.headerBytes, parent.offset + parent.bytes)
    : scanBoxes(bytes)
  return boxes.filter((b) => b.type === type)
}

/** The 32-bit value after version, flags, and the times of creation and modification. */
function readAfterTimes(view: DataView, { type, offset, headerBytes, bytes }: ScannedBox): number {
  if (bytes < headerBytes + 24)
    throw new AppError('corrupt', `expected at least 24 bytes in ${type}, got ${bytes - headerBytes}`)
  const at = offset + headerBytes
  return view.getUint32(view.getUint8(at) === 1 ? at + 20 : at + 12)
}

// Converts ticks between timescales, and reads the timescales of the tracks of a file. ISO/IEC 14496-12 8.4.2.

import { AppError } from '../../base/error.ts'
import { type ScannedBox, scanBoxes } from './box-scanner.ts'

/**
 * Converts 90 kHz ticks to another timescale, rounded. The recorder and playback round only with this function, so that
 * playback adds exactly what the recorder subtracted.
 */
export function scaleTicks(ticks90k: number, timescale: number): number {
  return Math.round((ticks90k * timescale) / 90_000)
}

/** Returns the timescale of each track by track id, from an initialization section. Throws 'corrupt'. */
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

/** Reads the 32-bit value after version, flags, creation time and modification time. */
function readAfterTimes(view: DataView, { type, offset, headerBytes, bytes }: ScannedBox): number {
  if (bytes < headerBytes + 24)
    throw new AppError('corrupt', `expected at least 24 bytes in ${type}, got ${bytes - headerBytes}`)
  const at = offset + headerBytes
  return view.getUint32(view.getUint8(at) === 1 ? at + 20 : at + 12)
}

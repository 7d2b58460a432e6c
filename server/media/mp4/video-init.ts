// Reduces an initialization section to its video track, for playback without audio. ISO/IEC 14496-12 8.2, 8.3, 8.8.3.

import { childBoxes, Reader } from './box-reader.ts'
import { type ScannedBox, scanBoxes } from './box-scanner.ts'
import { videoTrackId } from './init-segment.ts'

/** Returns `init` with its video track only. Throws 'corrupt'. */
export function writeVideoInit(init: Uint8Array): Uint8Array {
  const kept: Uint8Array[] = []
  for (const box of scanBoxes(init).boxes) kept.push(...keep(init, box))
  const out = new Uint8Array(kept.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const bytes of kept) {
    out.set(bytes, at)
    at += bytes.length
  }
  return out
}

/** Returns the parts of the box without the boxes of other tracks. */
function keep(init: Uint8Array, box: ScannedBox): Uint8Array[] {
  const whole = init.subarray(box.offset, box.offset + box.bytes)
  if (box.type !== 'moov' && box.type !== 'mvex') return [whole]
  const inner = childBoxes(init, box)
    .filter((child) => !isOfOtherTrack(init, child))
    .flatMap((child) => keep(init, child))
  const head = whole.slice(0, box.headerBytes)
  const bytes = inner.reduce((sum, { length }) => sum + length, head.length)
  new DataView(head.buffer).setUint32(0, bytes)
  return [head, ...inner]
}

function isOfOtherTrack(init: Uint8Array, box: ScannedBox): boolean {
  if (box.type === 'trex') return new Reader(init, box).skip(4).u32() !== videoTrackId
  if (box.type !== 'trak') return false
  const header = childBoxes(init, box).find(({ type }) => type === 'tkhd')
  // Version 0, as init-segment.ts writes it.
  return header !== undefined && new Reader(init, header).skip(12).u32() !== videoTrackId
}

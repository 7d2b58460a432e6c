// Reads the samples of one fragment: position in the file, times, and whether a decoder can start there. ISO/IEC
// 14496-12 8.8.7, 8.8.8.

import { AppError } from '../../base/error.ts'
import { childBoxes, Reader, wholeBox } from './box-reader.ts'
import type { ScannedBox } from './box-scanner.ts'

/**
 * The samples of one track, which are stored consecutively. The arrays have one value per sample; times are in the
 * timescale of the track.
 */
export type TrackSamples = {
  readonly trackId: number
  readonly baseDecodeTime: number
  /** Offset of the first sample from the beginning of the `moof`. */
  readonly dataOffset: number
  readonly sizes: readonly number[]
  readonly durations: readonly number[]
  readonly compositionOffsets: readonly number[]
  readonly isKey: readonly boolean[]
  /** The sample depends on no other sample, but is not necessarily a random access point. */
  readonly isIndependent: readonly boolean[]
  /** The sample cannot be decoded when decoding starts at the preceding key frame. */
  readonly isLeading: readonly boolean[]
}

const nonSync = 0x00010000
const dependsMask = 0x03000000
const dependsOnNone = 0x02000000
const leadingMask = 0x0c000000
const leadingUndecodable = 0x04000000

/**
 * Parses one complete `moof` in the form that media-fragment.ts writes: default-base-is-moof, and one run per track.
 * Throws 'corrupt', also for other forms.
 */
export function parseFragmentSamples(moof: Uint8Array): TrackSamples[] {
  return childBoxes(moof, wholeBox(moof, 'moof'))
    .filter(({ type }) => type === 'traf')
    .map((traf) => parseTrack(moof, traf))
}

function parseTrack(bytes: Uint8Array, traf: ScannedBox): TrackSamples {
  const boxes = childBoxes(bytes, traf)
  const [tfhd, tfdt, trun, second] = ['tfhd', 'tfdt', 'trun'].flatMap((type) => boxes.filter((b) => b.type === type))
  if (!tfhd || !tfdt || !trun || second) throw new AppError('corrupt', 'expected one tfhd, tfdt and trun in traf')

  const header = new Reader(bytes, tfhd)
  const headerFlags = header.u32()
  const trackId = header.u32()
  if (headerFlags & 0x01) throw new AppError('corrupt', 'expected data offsets from the moof')
  if (headerFlags & 0x02) header.skip(4)
  const defaultDuration = headerFlags & 0x08 ? header.u32() : 0
  const defaultSize = headerFlags & 0x10 ? header.u32() : 0
  const defaultFlags = headerFlags & 0x20 ? header.u32() : 0

  const time = new Reader(bytes, tfdt)
  const baseDecodeTime = time.u32() >>> 24 === 1 ? time.u64() : time.u32()

  const run = new Reader(bytes, trun)
  const runFlags = run.u32()
  const count = run.u32()
  if (!(runFlags & 0x01)) throw new AppError('corrupt', 'expected a data offset in trun')
  const dataOffset = run.i32()
  const firstFlags = runFlags & 0x04 ? run.u32() : undefined
  const entryBytes = 4 * [0x100, 0x200, 0x400, 0x800].filter((bit) => runFlags & bit).length
  // Without per-sample values, nothing else limits the number of samples.
  if (entryBytes === 0 || count === 0 || count * entryBytes > run.left) {
    throw new AppError('corrupt', `expected samples in trun that fit, got ${count} of ${entryBytes} bytes`)
  }
  const sizes: number[] = []
  const durations: number[] = []
  const compositionOffsets: number[] = []
  const isKey: boolean[] = []
  const isIndependent: boolean[] = []
  const isLeading: boolean[] = []
  for (let i = 0; i < count; i++) {
    durations.push(runFlags & 0x100 ? run.u32() : defaultDuration)
    sizes.push(runFlags & 0x200 ? run.u32() : defaultSize)
    const own = runFlags & 0x400 ? run.u32() : defaultFlags
    const flags = (i === 0 ? firstFlags : undefined) ?? own
    isKey.push((flags & nonSync) === 0)
    isIndependent.push((flags & dependsMask) === dependsOnNone)
    isLeading.push((flags & leadingMask) === leadingUndecodable)
    compositionOffsets.push(runFlags & 0x800 ? run.i32() : 0)
  }
  return { trackId, baseDecodeTime, dataOffset, sizes, durations, compositionOffsets, isKey, isIndependent, isLeading }
}

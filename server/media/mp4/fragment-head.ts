// Parses the head of a fragment (`prft`, `moof`) and shifts its times without changing its length. Supports what
// media-fragment.ts writes and the alternatives that the standard allows. ISO/IEC 14496-12 8.8, 8.16.5.

import { AppError } from '../../base/error.ts'
import { childBoxes, Reader, wholeBox } from './box-reader.ts'
import { type ScannedBox, scanBoxes } from './box-scanner.ts'
import { videoTrackId } from './init-segment.ts'

export type TrackFragment = {
  readonly trackId: number
  /** Decode time of the first sample in the timescale of the track. */
  readonly baseDecodeTime: number
  /** Sum of the sample durations in the timescale of the track. */
  readonly duration: number
  readonly sampleCount: number
  readonly dataBytes: number
  /**
   * True when a decoder can start at the first sample: a sync sample, a sample that depends on no other, or one with
   * roll recovery.
   */
  readonly firstIsKey: boolean
}

export type FragmentHead = {
  readonly sequence: number
  readonly tracks: readonly TrackFragment[]
}

/** The defaults of `trex` for fields that `tfhd` omits. They are 0 in recorded files. */
type Defaults = { duration: number; bytes: number; flags: number }

const nonSync = 0x00010000
const dependsOnNone = 2

/** Parses one complete `moof` box. Throws 'corrupt'. */
export function parseMovieFragment(moof: Uint8Array): FragmentHead {
  let sequence = 0
  const tracks: TrackFragment[] = []
  for (const child of childBoxes(moof, wholeBox(moof, 'moof'))) {
    if (child.type === 'mfhd') sequence = new Reader(moof, child).skip(4).u32()
    else if (child.type === 'traf') tracks.push(parseTrackFragment(moof, child))
  }
  return { sequence, tracks }
}

function parseTrackFragment(bytes: Uint8Array, traf: ScannedBox): TrackFragment {
  const defaults: Defaults = { duration: 0, bytes: 0, flags: 0 }
  let trackId: number | undefined
  let baseDecodeTime = 0
  let duration = 0
  let sampleCount = 0
  let dataBytes = 0
  let firstIsKey = false
  for (const child of childBoxes(bytes, traf)) {
    const reader = new Reader(bytes, child)
    if (child.type === 'tfhd') trackId = parseHeader(reader, defaults)
    else if (child.type === 'tfdt') baseDecodeTime = reader.u32() >>> 24 === 1 ? reader.u64() : reader.u32()
    else if (child.type === 'trun') {
      const run = parseRun(reader, defaults)
      if (sampleCount === 0) firstIsKey = run.firstIsKey
      duration += run.duration
      sampleCount += run.sampleCount
      dataBytes += run.dataBytes
    } else if (child.type === 'sbgp') firstIsKey ||= isFirstRolling(reader)
  }
  if (trackId === undefined) throw new AppError('corrupt', 'expected a tfhd box in traf')
  return { trackId, baseDecodeTime, duration, sampleCount, dataBytes, firstIsKey }
}

function isFirstRolling(reader: Reader): boolean {
  reader.skip(4)
  if (reader.u32() !== 0x726f6c6c /* roll */) return false
  return reader.u32() > 0 && reader.u32() > 0 && reader.u32() !== 0
}

function parseHeader(reader: Reader, defaults: Defaults): number {
  const flags = reader.u32()
  const trackId = reader.u32()
  if (flags & 0x01) reader.skip(8)
  if (flags & 0x02) reader.skip(4)
  if (flags & 0x08) defaults.duration = reader.u32()
  if (flags & 0x10) defaults.bytes = reader.u32()
  if (flags & 0x20) defaults.flags = reader.u32()
  return trackId
}

function parseRun(
  reader: Reader,
  defaults: Defaults,
): { sampleCount: number; duration: number; dataBytes: number; firstIsKey: boolean } {
  const flags = reader.u32()
  const sampleCount = reader.u32()
  if (flags & 0x01) reader.skip(4)
  let firstFlags = flags & 0x04 ? reader.u32() : undefined
  const entryBytes = 4 * [0x100, 0x200, 0x400, 0x800].filter((bit) => flags & bit).length
  if (sampleCount * entryBytes > reader.left) {
    throw new AppError(
      'corrupt',
      `expected ${sampleCount} samples of ${entryBytes} bytes in trun, got ${reader.left} bytes`,
    )
  }
  let duration = entryBytes === 0 ? sampleCount * defaults.duration : 0
  let dataBytes = entryBytes === 0 ? sampleCount * defaults.bytes : 0
  for (let i = 0; entryBytes > 0 && i < sampleCount; i++) {
    duration += flags & 0x100 ? reader.u32() : defaults.duration
    dataBytes += flags & 0x200 ? reader.u32() : defaults.bytes
    if (flags & 0x400) {
      const own = reader.u32()
      firstFlags ??= own
    }
    if (flags & 0x800) reader.skip(4)
  }
  const first = firstFlags ?? defaults.flags
  const firstIsKey = (first & nonSync) === 0 || ((first >>> 24) & 3) === dependsOnNone
  return { sampleCount, duration, dataBytes, firstIsKey: firstIsKey && sampleCount > 0 }
}

const unixMinusNtpSeconds = -2_208_988_800
const ntpEraSeconds = 0x100000000

/** Parses one complete `prft` box and returns its wall clock in Unix milliseconds. Throws 'corrupt'. */
export function parseProducerReferenceTime(prft: Uint8Array): number {
  const reader = new Reader(prft, wholeBox(prft, 'prft')).skip(8)
  const seconds = reader.u32()
  const fraction = reader.u32()
  const era = seconds < 0x80000000 ? ntpEraSeconds : 0 // RFC 4330 3: no time before 1968
  return Math.round((seconds + era + unixMinusNtpSeconds + fraction / 0x100000000) * 1000)
}

/**
 * Shifts all decode times in the head of one fragment in place: `tfdt` of each track and the media time of `prft`.
 * `head` contains complete boxes; boxes other than `prft` and `moof` are unchanged. `shiftOf` returns the shift of a
 * track id in ticks of the track's timescale. Throws 'corrupt', also when a time would be negative or would not fit.
 */
export function shiftDecodeTimes(head: Uint8Array, shiftOf: (trackId: number) => number): void {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  for (const top of scanBoxes(head).boxes) {
    if (top.type === 'prft') {
      const reader = new Reader(head, top)
      const is64 = reader.u32() >>> 24 === 1
      shiftTime(view, top.offset + 24, is64, shiftOf(reader.u32()))
    }
    if (top.type !== 'moof') continue
    for (const traf of childBoxes(head, top)) {
      if (traf.type !== 'traf') continue
      let shift = 0
      for (const child of childBoxes(head, traf)) {
        const reader = new Reader(head, child)
        if (child.type === 'tfhd') shift = shiftOf(reader.skip(4).u32())
        else if (child.type === 'tfdt') shiftTime(view, child.offset + 12, reader.u32() >>> 24 === 1, shift)
      }
    }
  }
}

/**
 * Removes all tracks except the video track from the head of one fragment, in place. Readers skip the tracks, and
 * neither the length nor the sample data changes. Throws 'corrupt'.
 */
export function hideAudio(head: Uint8Array): void {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  for (const top of scanBoxes(head).boxes) {
    if (top.type !== 'moof') continue
    for (const traf of childBoxes(head, top)) {
      const header = traf.type === 'traf' && childBoxes(head, traf).find(({ type }) => type === 'tfhd')
      if (!header || new Reader(head, header).skip(4).u32() === videoTrackId) continue
      view.setUint32(traf.offset + 4, 0x66726565 /* free */)
    }
  }
}

/**
 * Replaces the composition offset of every sample of one complete `moof` in place. A run without offsets is unchanged.
 * Throws 'corrupt'.
 */
export function mapCompositionOffsets(moof: Uint8Array, map: (offset: number) => number): void {
  const view = new DataView(moof.buffer, moof.byteOffset, moof.byteLength)
  for (const traf of childBoxes(moof, wholeBox(moof, 'moof'))) {
    if (traf.type !== 'traf') continue
    for (const trun of childBoxes(moof, traf)) {
      if (trun.type === 'trun') mapRunOffsets(view, new Reader(moof, trun), map)
    }
  }
}

function mapRunOffsets(view: DataView, reader: Reader, map: (offset: number) => number): void {
  const flags = reader.u32()
  const sampleCount = reader.u32()
  if (!(flags & 0x800)) return
  if (flags & 0x01) reader.skip(4)
  if (flags & 0x04) reader.skip(4)
  const bytesBefore = 4 * [0x100, 0x200, 0x400].filter((bit) => flags & bit).length
  for (let i = 0; i < sampleCount; i++) {
    const offset = reader.skip(bytesBefore).i32()
    view.setInt32(reader.offset - 4, map(offset))
  }
}

function shiftTime(view: DataView, at: number, is64: boolean, shift: number): void {
  if (at + (is64 ? 8 : 4) > view.byteLength)
    throw new AppError('corrupt', 'expected a decode time, but the box ends before it')
  const old = is64 ? view.getUint32(at) * 0x100000000 + view.getUint32(at + 4) : view.getUint32(at)
  const time = old + shift
  if (time < 0 || time > (is64 ? Number.MAX_SAFE_INTEGER : 0xffffffff)) {
    throw new AppError('corrupt', `expected a decode time that fits after a shift of ${shift}, got ${time}`)
  }
  if (is64) view.setUint32(at, Math.floor(time / 0x100000000))
  view.setUint32(is64 ? at + 4 : at, time % 0x100000000)
}

// Collects what a decoder needs to show one image of a stream: a key frame or, with gradual refresh, the consecutive
// access units from the recovery point to the first correct frame.

import type { Frame, VideoCodec } from '../frame.ts'
import { nalType, nalTypeOf } from '../h264/nal-unit.ts'
import { hevcNalType, hevcNalTypeOf } from '../h265/nal-unit.ts'
import { listLengthPrefixedNalUnits } from './nal-units.ts'
import { clearRecoveryCount, findRecoveryPoint, type RecoveryPoint } from './recovery-point.ts'

/** A refresh that needs more frames or more bytes is given up. */
const maxPictures = 600
const maxBytes = 24 * 1024 * 1024

/**
 * Returns the number of reference frames after this access unit until the decoder output is correct: 0 for a key frame.
 */
export function findRefreshCount(codec: VideoCodec, data: Uint8Array): number {
  if (codec === 'mjpeg') return 0
  const found = findMessage(codec, data)
  return found && !isIrap(codec, data) ? found.point.count : 0
}

/**
 * Returns a copy of the H.264 access unit with a recovery count of 0. Players that use Media Source Extensions do not
 * start at other recovery points: Chromium treats a recovery point as a key frame only when its count is 0. Their
 * output still becomes correct only after the real count.
 */
export function withoutRefreshCount(data: Uint8Array): Uint8Array {
  const copy = data.slice()
  writeWithoutRefreshCount(copy)
  return copy
}

/** Does the same in place. `data` may be truncated behind the message. */
export function writeWithoutRefreshCount(data: Uint8Array): void {
  const found = findMessage('h264', data)
  if (found) clearRecoveryCount(found.unit, found.point)
}

/** Finds the recovery point message before the first slice. */
function findMessage(codec: VideoCodec, data: Uint8Array): { unit: Uint8Array; point: RecoveryPoint } | undefined {
  for (const unit of listLengthPrefixedNalUnits(data)) {
    if (isSlice(codec, unit)) return undefined
    const isMessage =
      codec === 'h264' ? nalTypeOf(unit[0]!) === nalType.sei : hevcNalTypeOf(unit[0]!) === hevcNalType.prefixSei
    const point = isMessage ? findRecoveryPoint(unit, 0, unit.length, codec === 'h264' ? 1 : 2) : undefined
    if (point) return { unit, point }
  }
  return undefined
}

/**
 * Splits the output of `KeyFrameCollector` into its access units, as views. There is more than one only with gradual
 * refresh.
 */
export function splitKeyFrame(codec: VideoCodec, data: Uint8Array): Uint8Array[] {
  if (findRefreshCount(codec, data) === 0) return [data]
  const starts: number[] = []
  let at = 0
  /** Where the data of the next slice begins, including the messages before it. */
  let unitStart = 0
  let hasSlice = true
  for (const unit of listLengthPrefixedNalUnits(data)) {
    const end = at + 4 + unit.length
    if (isSlice(codec, unit)) {
      if (isFirstSlice(codec, unit)) starts.push(hasSlice ? at : unitStart)
      hasSlice = true
    } else {
      if (hasSlice) unitStart = at
      hasSlice = false
    }
    at = end
  }
  return starts.map((start, i) => data.subarray(start, starts[i + 1] ?? data.length))
}

export class KeyFrameCollector {
  readonly #codec: VideoCodec
  #parts: Uint8Array[] = []
  #bytes = 0
  /** Number of reference frames that are still needed. */
  #missing = 0

  constructor(codec: VideoCodec) {
    this.#codec = codec
  }

  /**
   * Takes the next frame. Returns what a decoder needs once the output for the newest key frame is correct. For an
   * ordinary key frame, this is its own `data`.
   */
  push({ isKey, recovery = 0, data }: Pick<Frame, 'isKey' | 'recovery' | 'data'>): Uint8Array | undefined {
    if (isKey) {
      this.#reset()
      this.#missing = recovery
      if (recovery === 0) return data
    } else if (this.#missing === 0) return undefined
    else if (this.#isReference(data)) this.#missing--
    this.#parts.push(data.slice())
    this.#bytes += data.length
    if (this.#parts.length > maxPictures || this.#bytes > maxBytes) this.#reset()
    else if (this.#missing === 0) return this.#join()
    return undefined
  }

  /** Discards the collected access units, because the next key frame may never come. */
  #reset(): void {
    this.#parts = []
    this.#bytes = 0
    this.#missing = 0
  }

  #join(): Uint8Array {
    const out = new Uint8Array(this.#bytes)
    let at = 0
    for (const part of this.#parts) {
      out.set(part, at)
      at += part.length
    }
    this.#reset()
    return out
  }

  /** H.265 counts all pictures; H.264 counts reference pictures (`nal_ref_idc`). */
  #isReference(data: Uint8Array): boolean {
    if (this.#codec !== 'h264') return true
    const slice = listLengthPrefixedNalUnits(data).find((unit) => isSlice('h264', unit))
    return slice !== undefined && (slice[0]! & 0x60) !== 0
  }
}

function isSlice(codec: VideoCodec, unit: Uint8Array): boolean {
  if (unit.length === 0) return false
  if (codec === 'h265') return hevcNalTypeOf(unit[0]!) < hevcNalType.vps
  const type = nalTypeOf(unit[0]!)
  return type >= nalType.slice && type <= nalType.idr
}

function isIrap(codec: VideoCodec, data: Uint8Array): boolean {
  const slice = listLengthPrefixedNalUnits(data).find((unit) => isSlice(codec, unit))
  if (!slice) return false
  const type = codec === 'h264' ? nalTypeOf(slice[0]!) : hevcNalTypeOf(slice[0]!)
  return codec === 'h264' ? type === nalType.idr : type >= hevcNalType.firstIrap && type <= hevcNalType.lastIrap
}

/**
 * The first bit is set in the first slice: first_mb_in_slice is 0 (H.264), or first_slice_segment_in_pic_flag (H.265).
 */
function isFirstSlice(codec: VideoCodec, unit: Uint8Array): boolean {
  return (unit[codec === 'h264' ? 1 : 2] ?? 0) >= 0x80
}

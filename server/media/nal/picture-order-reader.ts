// Reads the picture order count of each access unit from its first slice, for streams without timestamps. The count
// gives the presentation order. ISO/IEC 14496-10 7.3.3 and 8.2.1 (H.264, counts of type 0); ITU-T H.265 7.3.6.1 and
// 8.3.1. Parameter sets are read from the stream.

import type { PictureOrder } from '../frame.ts'
import { nalType, nalTypeOf } from '../h264/nal-unit.ts'
import { parseSps, type SliceFields } from '../h264/sps.ts'
import { hevcNalHeaderBytes, hevcNalType, hevcNalTypeOf } from '../h265/nal-unit.ts'
import { type HevcSps, parseHevcSps } from '../h265/sps.ts'
import { BitReader } from './bit-reader.ts'

/** The required fields of a slice or picture parameter set lie within its first bytes. */
const headBytes = 48
/** Longer slice header fields are not supported. */
const maxBits = 16
/** A stream with more sets than this is invalid; all sets are then discarded. */
const maxSets = 320

export type OrderedPicture = {
  /** Comparable with the counts of pictures since the last `isReset`. */
  readonly count: number
  /** Counting restarts: all earlier pictures are shown before this one. */
  readonly isReset: boolean
  readonly isKey: boolean
}

/**
 * Extends the transmitted low bits of a count to the full count, relative to an earlier picture. Common to both codecs.
 */
class OrderCountUnwrapper {
  #before = 0

  /** Returns the full count for low bits modulo `range`. */
  unwrap(low: number, range: number): number {
    const beforeLow = ((this.#before % range) + range) % range
    let count = this.#before - beforeLow + low
    if (low < beforeLow && beforeLow - low >= range / 2) count += range
    else if (low > beforeLow && low - beforeLow > range / 2) count -= range
    return count
  }

  follow(count: number): void {
    this.#before = count
  }
}

export class PictureOrderReader {
  /** Picture order of the newest sequence parameter set; undefined before the first one. */
  order: PictureOrder | undefined
  readonly #codec: 'h264' | 'h265'
  readonly #unwrap = new OrderCountUnwrapper()
  readonly #avcSets = new Map<number, SliceFields>()
  readonly #hevcSets = new Map<number, HevcSps['slices']>()
  /** By id: the sequence parameter set that the set refers to, and other fields that the slice header depends on. */
  readonly #pictureSets = new Map<number, { setId: number; hasOutputFlag: boolean; extraBits: number }>()

  constructor(codec: 'h264' | 'h265') {
    this.#codec = codec
  }

  /**
   * Takes the NAL units of an access unit. Returns undefined when its order cannot be determined. Never throws on bytes
   * that a camera sends.
   */
  take(units: readonly Uint8Array[]): OrderedPicture | undefined {
    for (const unit of units) {
      if (unit.length <= hevcNalHeaderBytes) continue
      try {
        const found = this.#codec === 'h264' ? this.#takeAvc(unit) : this.#takeHevc(unit)
        if (found) return found
      } catch {
        // The unit is truncated or refers to a missing parameter set.
      }
    }
    return undefined
  }

  #takeAvc(unit: Uint8Array): OrderedPicture | undefined {
    const type = nalTypeOf(unit[0]!)
    if (type === nalType.sps) {
      const { slices, order } = parseSps(unit)
      this.order = order
      if (this.#avcSets.size > maxSets) this.#avcSets.clear()
      this.#avcSets.set(slices.setId, slices)
    } else if (type === nalType.pps) this.#takePictureSet(unit, 1)
    if (type !== nalType.slice && type !== nalType.idr) return undefined
    const reader = new BitReader(unit.subarray(1, headBytes))
    reader.unsigned() // first_mb_in_slice
    reader.unsigned() // slice_type
    const set = this.#avcSets.get(this.#pictureSets.get(reader.unsigned())?.setId ?? -1)
    if (set?.orderCountBits === undefined || Math.max(set.orderCountBits, set.frameNumBits) > maxBits) return undefined
    if (set.hasColorPlanes) reader.bits(2)
    reader.bits(set.frameNumBits)
    if (!set.isFrameOnly && reader.bit() === 1) reader.bit() // bottom_field_flag
    const isReset = type === nalType.idr
    if (isReset) {
      reader.unsigned() // idr_pic_id
      this.#unwrap.follow(0)
    }
    const count = this.#unwrap.unwrap(reader.bits(set.orderCountBits), 2 ** set.orderCountBits)
    if ((unit[0]! & 0x60) !== 0) this.#unwrap.follow(count)
    return { count, isReset, isKey: isReset }
  }

  #takeHevc(unit: Uint8Array): OrderedPicture | undefined {
    const type = hevcNalTypeOf(unit[0]!)
    if (type === hevcNalType.sps) {
      const { slices, order } = parseHevcSps(unit)
      this.order = order
      if (this.#hevcSets.size > maxSets) this.#hevcSets.clear()
      this.#hevcSets.set(slices.setId, slices)
    } else if (type === hevcNalType.pps) this.#takePictureSet(unit, hevcNalHeaderBytes)
    if (type > hevcNalType.lastIrap) return undefined
    const isKey = type >= hevcNalType.firstIrap
    const isIdr = type === hevcNalType.idrWithLeading || type === hevcNalType.idrWithLeading + 1
    const reader = new BitReader(unit.subarray(hevcNalHeaderBytes, headBytes))
    if (reader.bit() === 0) return undefined // not the first slice of the picture
    if (isKey) reader.bit() // no_output_of_prior_pics_flag
    const pictureSet = this.#pictureSets.get(reader.unsigned())
    const set = this.#hevcSets.get(pictureSet?.setId ?? -1)
    if (!pictureSet || !set || set.orderCountBits > maxBits) return undefined
    reader.bits(pictureSet.extraBits)
    reader.unsigned() // slice_type
    if (pictureSet.hasOutputFlag) reader.bit()
    if (set.hasColorPlanes) reader.bits(2)
    const range = 2 ** set.orderCountBits
    const isReset = isIdr || (isKey && type < hevcNalType.idrWithLeading)
    if (isReset) this.#unwrap.follow(0)
    const count = isIdr ? 0 : this.#unwrap.unwrap(reader.bits(set.orderCountBits), range)
    // The high bits are relative to pictures of the lowest temporal layer that are references and not leading pictures.
    const isLowest = (unit[1]! & 7) === 1
    const isFollowed = isKey || (type < hevcNalType.radlN && type % 2 === 1)
    if (isLowest && isFollowed) this.#unwrap.follow(count)
    return { count, isReset, isKey }
  }

  #takePictureSet(unit: Uint8Array, headerBytes: number): void {
    const reader = new BitReader(unit.subarray(headerBytes, headBytes))
    const id = reader.unsigned()
    const setId = reader.unsigned()
    const isHevc = this.#codec === 'h265'
    if (isHevc) reader.bit() // dependent_slice_segments_enabled_flag
    const hasOutputFlag = isHevc && reader.bit() === 1
    const extraBits = isHevc ? reader.bits(3) : 0
    if (this.#pictureSets.size > maxSets) this.#pictureSets.clear()
    this.#pictureSets.set(id, { setId, hasOutputFlag, extraBits })
  }
}

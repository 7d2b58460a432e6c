// The picture order count of each access unit, read off its first slice: in which order pictures are shown. For streams that tell no
// times. ISO/IEC 14496-10 7.3.3 and 8.2.1 (H.264, counts of type 0); ITU-T H.265 7.3.6.1 and 8.3.1. Sets are read from the stream.

import type { PictureOrder } from '../frame.ts'
import { nalType, nalTypeOf } from '../h264/nal-unit.ts'
import { parseSps, type SliceFields } from '../h264/sps.ts'
import { hevcNalHeaderBytes, hevcNalType, hevcNalTypeOf } from '../h265/nal-unit.ts'
import { type HevcSps, parseHevcSps } from '../h265/sps.ts'
import { BitReader } from './bit-reader.ts'

/** What is read of a slice or picture parameter set stands in its first bytes. */
const headBytes = 48
/** No field of a slice header that is read here may be longer. */
const maxBits = 16
/** More sets than these are rubbish: what is known is forgotten. */
const maxSets = 320

export type OrderedPicture = {
  /** Compares with the counts of pictures since the last `isReset`. */
  readonly count: number
  /** Counting begins anew: everything before is shown before. */
  readonly isReset: boolean
  readonly isKey: boolean
}

/** What two codecs have in common: a count whose low bits are told, and the picture that the high bits follow from. */
class CountUnwrap {
  #before = 0

  /** The whole count of low bits modulo `range`. */
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
  /** Of the newest sequence set; undefined before the first. */
  order: PictureOrder | undefined
  readonly #codec: 'h264' | 'h265'
  readonly #unwrap = new CountUnwrap()
  readonly #avcSets = new Map<number, SliceFields>()
  readonly #hevcSets = new Map<number, HevcSps['slices']>()
  /** By id: the sequence set it refers to, and what else of it slices depend on. */
  readonly #pictureSets = new Map<number, { setId: number; hasOutputFlag: boolean; extraBits: number }>()

  constructor(codec: 'h264' | 'h265') {
    this.#codec = codec
  }

  /** The NAL units of an access unit. Undefined where its order can't be told. Never throws on what a camera sends. */
  take(units: readonly Uint8Array[]): OrderedPicture | undefined {
    for (const unit of units) {
      if (unit.length <= hevcNalHeaderBytes) continue
      try {
        const found = this.#codec === 'h264' ? this.#takeAvc(unit) : this.#takeHevc(unit)
        if (found) return found
      } catch {
        // Cut short, or it refers to what has not come.
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
    if (set.hasColourPlanes) reader.bits(2)
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
    if (set.hasColourPlanes) reader.bits(2)
    const range = 2 ** set.orderCountBits
    const isReset = isIdr || (isKey && type < hevcNalType.idrWithLeading)
    if (isReset) this.#unwrap.follow(0)
    const count = isIdr ? 0 : this.#unwrap.unwrap(reader.bits(set.orderCountBits), range)
    // The high bits follow from pictures of the lowest layer that others refer to and that are no leading pictures.
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

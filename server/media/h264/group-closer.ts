// Rewrites groups of pictures that begin with a recovery point so that they depend on no earlier frames: the first
// frame becomes an IDR picture, and the slice headers of the others are adjusted (ISO/IEC 14496-10 7.3.3, 7.4.1.2.4,
// 8.2.5). Nothing is decoded. Players need this when their decoder starts in the middle of a stream: after an IDR
// picture the decoder has the reference frames that the encoder expects, wherever playback started.
//
// Frames that refer to the previous group are left out. Gradual refresh, streams of fields and some rare features are
// left unchanged.

import type { Frame } from '../frame.ts'
import { listLengthPrefixedNalUnits, writeLengthPrefixedNalUnits } from '../nal/nal-units.ts'
import { findRecoveryPoint } from '../nal/recovery-point.ts'
import { parseAvcConfig } from './avc-config.ts'
import { nalType, nalTypeOf } from './nal-unit.ts'
import { type Pps, parsePps } from './pps.ts'
import { escapeNal, RbspWriter, unescapeNal } from './rbsp.ts'
import { type ParameterSetPair, readSliceHeader, type SliceHeader, sliceKind } from './slice-header.ts'
import { parseSps, type SliceFields, type Sps } from './sps.ts'

/** The group being closed, with the frame number and the picture order count of its first frame. */
type Group = {
  readonly frameNum: number
  readonly orderCount: number
  /** Frame numbers since the first frame, not wrapped, up to the previous frame. */
  since: number
}

const removeShortTerm = 1
/** Longer frame number and picture order count fields are not supported. */
const maxFieldBits = 16

export class GroupCloser {
  readonly #sets: ReadonlyMap<number, ParameterSetPair>
  #group: Group | undefined

  /** `config` is the AVCDecoderConfigurationRecord of the run. */
  constructor(config: Uint8Array) {
    this.#sets = readSets(config)
  }

  /**
   * Returns the frame to send, or undefined when it must be left out because it refers to the previous group or cannot
   * be parsed. Takes the frames of a run in order, beginning with a key frame. Frames of groups that cannot be closed
   * are returned unchanged.
   */
  close<FrameLike extends Pick<Frame, 'isKey' | 'recovery' | 'isLeading' | 'data' | 'memory'>>(
    frame: FrameLike,
  ): FrameLike | undefined {
    try {
      if (frame.isKey) return this.#begin(frame)
      if (!this.#group) return frame
      if (frame.isLeading) return undefined
      return { ...frame, data: this.#rewriteOther(frame.data, this.#group), memory: undefined }
    } catch {
      // The slice header cannot be parsed, so the frame is damaged. Frames that refer to it show that.
      return frame.isKey ? frame : undefined
    }
  }

  #begin<FrameLike extends Pick<Frame, 'recovery' | 'data' | 'memory'>>(frame: FrameLike): FrameLike {
    this.#group = undefined
    if (frame.recovery !== 0) return frame
    const units = listLengthPrefixedNalUnits(frame.data)
    const first = units.find(isSlice)
    if (!first) return frame
    const { frameNum, orderCount } = this.#read(unescapeNal(first))
    const closed: Uint8Array[] = []
    for (const unit of units) {
      if (isRecoveryPoint(unit)) continue
      const rewritten = isSlice(unit) ? this.#rewriteFirst(unit) : unit
      if (!rewritten) return frame
      closed.push(rewritten)
    }
    this.#group = { frameNum: frameNum.value, orderCount: orderCount?.value ?? 0, since: 0 }
    return { ...frame, recovery: undefined, data: writeLengthPrefixedNalUnits(closed), memory: undefined }
  }

  #read(rbsp: Uint8Array): SliceHeader & ParameterSetPair {
    let found: ParameterSetPair | undefined
    const header = readSliceHeader(rbsp, (id) => {
      found = this.#sets.get(id)
      if (!found) throw new Error(`no parameter set ${id}`)
      return found
    })
    return { ...header, ...found! }
  }

  /** Rewrites a slice of the first frame as a slice of an IDR picture. Returns undefined when that is not possible. */
  #rewriteFirst(unit: Uint8Array): Uint8Array | undefined {
    const rbsp = unescapeNal(unit)
    const { kind, frameNum, orderCount, marking, end, pps } = this.#read(rbsp)
    if (kind !== sliceKind.i || !marking) return undefined
    const writer = new RbspWriter(rbsp.length + 8)
    writer.bits((rbsp[0]! & 0xe0) | nalType.idr, 8)
    writer.copy(rbsp, 8, frameNum.from)
    writer.bits(0, frameNum.to - frameNum.from)
    writer.bits(1, 1) // idr_pic_id 0
    if (orderCount) writer.bits(0, orderCount.to - orderCount.from)
    writer.copy(rbsp, orderCount?.to ?? frameNum.to, marking.from)
    writer.bits(0, 2) // no_output_of_prior_pics_flag and long_term_reference_flag
    writer.copy(rbsp, marking.to, end)
    return finish(writer, rbsp, end, pps)
  }

  #rewriteOther(data: Uint8Array, group: Group): Uint8Array {
    const units = listLengthPrefixedNalUnits(data)
    return writeLengthPrefixedNalUnits(units.map((unit) => (isSlice(unit) ? this.#rewriteSlice(unit, group) : unit)))
  }

  #rewriteSlice(unit: Uint8Array, group: Group): Uint8Array {
    const rbsp = unescapeNal(unit)
    const { frameNum, orderCount, marking, end, pps } = this.#read(rbsp)
    const frameBits = frameNum.to - frameNum.from
    const own = modulo(frameNum.value - group.frameNum, frameBits)
    group.since += modulo(own - group.since, frameBits)
    const writer = new RbspWriter(rbsp.length + 8)
    writer.copy(rbsp, 0, frameNum.from)
    writer.bits(own, frameBits)
    if (orderCount) {
      const orderBits = orderCount.to - orderCount.from
      writer.copy(rbsp, frameNum.to, orderCount.from)
      writer.bits(modulo(orderCount.value - group.orderCount, orderBits), orderBits)
    }
    let copied = orderCount?.to ?? frameNum.to
    for (const { from, to, code, removedDistance } of marking?.operations ?? []) {
      // The operation removes a frame from before the group, which the IDR picture has already removed.
      if (code !== removeShortTerm || removedDistance === undefined || removedDistance <= group.since) continue
      writer.copy(rbsp, copied, from)
      copied = to
    }
    writer.copy(rbsp, copied, end)
    return finish(writer, rbsp, end, pps)
  }
}

/**
 * Copies the slice data behind the header. With CABAC it begins at the next byte boundary. Zeros behind the data are
 * left out.
 */
function finish(writer: RbspWriter, rbsp: Uint8Array, end: number, { usesCabac }: Pps): Uint8Array {
  let from = end
  if (usesCabac) {
    while ((writer.at & 7) !== 0) writer.bits(1, 1)
    from = (end + 7) & ~7
  }
  writer.copy(rbsp, from, rbsp.length * 8)
  const bytes = writer.take()
  let length = bytes.length
  while (length > 0 && bytes[length - 1] === 0) length--
  return escapeNal(bytes.subarray(0, length))
}

function isSlice(unit: Uint8Array): boolean {
  const type = nalTypeOf(unit[0] ?? 0)
  return type === nalType.slice || type === nalType.idr
}

/** An IDR picture does not need a recovery point message. */
function isRecoveryPoint(unit: Uint8Array): boolean {
  if (nalTypeOf(unit[0] ?? 0) !== nalType.sei) return false
  const point = findRecoveryPoint(unit, 0, unit.length, 1)
  const isAlone = point !== undefined && point.start === 3 && point.end + 1 >= unit.length
  return isAlone
}

function modulo(value: number, bits: number): number {
  const range = 2 ** bits
  return ((value % range) + range) % range
}

/** Parameter sets by the id of the picture parameter set. Only sets whose slices can be rewritten are included. */
function readSets(config: Uint8Array): Map<number, ParameterSetPair> {
  const sets = new Map<number, ParameterSetPair>()
  try {
    const { sps: sequenceSets, pps: pictureSets } = parseAvcConfig(config)
    const byId = new Map<number, Sps>(sequenceSets.map(parseSps).map((sps) => [sps.slices.setId, sps]))
    for (const pps of pictureSets.map(parsePps)) {
      const sps = byId.get(pps.setId)
      if (sps && !pps.hasSliceGroups && canRewrite(sps.slices)) sets.set(pps.id, { pps, sps })
    }
  } catch {
    // Sets that cannot be parsed cannot be rewritten.
  }
  return sets
}

function canRewrite({ isFrameOnly, hasOrderCycle, frameNumBits, orderCountBits = 0 }: SliceFields): boolean {
  return isFrameOnly && !hasOrderCycle && Math.max(frameNumBits, orderCountBits) <= maxFieldBits
}

// Groups of pictures that begin with a recovery point, made into groups that depend on nothing: the first picture becomes an IDR picture, and
// what the others say of it follows (ISO/IEC 14496-10 7.3.3, 7.4.1.2.4, 8.2.5). No picture is decoded. For players whose decoder
// begins in the middle of a stream: after an IDR picture it knows as many pictures as the encoder meant it to, wherever it began.
//
// Left out are pictures that refer to the group before. Left as they are: gradual refresh, streams of fields, and what is rarer.

import type { Frame } from '../frame.ts'
import { listLengthPrefixedNalUnits, writeLengthPrefixedNalUnits } from '../nal/nal-units.ts'
import { findRecoveryPoint } from '../nal/recovery-point.ts'
import { parseAvcConfig } from './avc-config.ts'
import { nalType, nalTypeOf } from './nal-unit.ts'
import { type Pps, parsePps } from './pps.ts'
import { escapeNal, RbspWriter, unescapeNal } from './rbsp.ts'
import { readSliceHeader, type SetPair, type SliceHeader, sliceKind } from './slice-header.ts'
import { parseSps, type SliceFields, type Sps } from './sps.ts'

/** The group being closed: what its first picture was numbered. */
type Group = {
  readonly frameNum: number
  readonly orderCount: number
  /** Frame numbers since then, not wrapped; of the picture before. */
  since: number
}

const forgetShortTerm = 1
/** No number of a picture may be longer. */
const maxFieldBits = 16

export class ClosedGroups {
  readonly #sets: ReadonlyMap<number, SetPair>
  #group: Group | undefined

  /** `config`: AVCDecoderConfigurationRecord of the run. */
  constructor(config: Uint8Array) {
    this.#sets = readSets(config)
  }

  /**
   * The picture as it is to be sent, or undefined when it is left out: it refers to the group before, or can't be read. Pictures of a run in
   * their order, beginning with a key frame; those of groups that are not closed are given back as they are.
   */
  close<Picture extends Pick<Frame, 'isKey' | 'recovery' | 'isLeading' | 'data' | 'memory'>>(
    frame: Picture,
  ): Picture | undefined {
    try {
      if (frame.isKey) return this.#begin(frame)
      if (!this.#group) return frame
      if (frame.isLeading) return undefined
      return { ...frame, data: this.#rewriteOther(frame.data, this.#group), memory: undefined }
    } catch {
      // A slice header that can't be read: the picture is damaged, and what refers to it shows that.
      return frame.isKey ? frame : undefined
    }
  }

  #begin<Picture extends Pick<Frame, 'recovery' | 'data' | 'memory'>>(frame: Picture): Picture {
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

  #read(rbsp: Uint8Array): SliceHeader & SetPair {
    let found: SetPair | undefined
    const header = readSliceHeader(rbsp, (id) => {
      found = this.#sets.get(id)
      if (!found) throw new Error(`no parameter set ${id}`)
      return found
    })
    return { ...header, ...found! }
  }

  /** A slice of the first picture as one of an IDR picture; undefined when it can be none. */
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
    writer.bits(0, 2) // pictures before it are shown, and it is forgotten as others are
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
    for (const { from, to, code, forgets } of marking?.operations ?? []) {
      // A picture from before the group, which the IDR picture has made everybody forget.
      if (code !== forgetShortTerm || forgets === undefined || forgets <= group.since) continue
      writer.copy(rbsp, copied, from)
      copied = to
    }
    writer.copy(rbsp, copied, end)
    return finish(writer, rbsp, end, pps)
  }
}

/** What follows the header: with CABAC from the next whole byte on. Zeros behind the data are left out. */
function finish(writer: RbspWriter, rbsp: Uint8Array, end: number, { isArithmetic }: Pps): Uint8Array {
  let from = end
  if (isArithmetic) {
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

/** An IDR picture needs no message that says so. */
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

/** By the id of the picture set; only those whose slices can be rewritten. */
function readSets(config: Uint8Array): Map<number, SetPair> {
  const sets = new Map<number, SetPair>()
  try {
    const { sps: sequenceSets, pps: pictureSets } = parseAvcConfig(config)
    const byId = new Map<number, Sps>(sequenceSets.map(parseSps).map((sps) => [sps.slices.setId, sps]))
    for (const pps of pictureSets.map(parsePps)) {
      const sps = byId.get(pps.setId)
      if (sps && !pps.hasSliceGroups && canRewrite(sps.slices)) sets.set(pps.id, { pps, sps })
    }
  } catch {
    // What can't be read can't be rewritten.
  }
  return sets
}

function canRewrite({ isFrameOnly, isCyclic, frameNumBits, orderCountBits = 0 }: SliceFields): boolean {
  return isFrameOnly && !isCyclic && Math.max(frameNumBits, orderCountBits) <= maxFieldBits
}

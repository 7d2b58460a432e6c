// RTP payloads -> access units of H.264 (RFC 6184, packetization modes 0 and 1: single NAL units, STAP-A, FU-A) and H.265 (RFC 7798
// without decoding order numbers: single NAL units, AP, FU).
//
// A lost packet costs its group of pictures: the damaged access unit and all that refer to it are dropped until the next key
// frame, unless the owner of the camera wants them as they came. Bytes are copied once, from the packet to where the access unit
// stays, behind the one before it.

import { FrameMemory, type FrameMemoryPool } from '../frame-memory.ts'
import type { FrameAccess, VideoCounters, VideoDepacketizer, VideoSink } from '../video-depacketizer.ts'
import { type NalCodec, nalRole, type ParameterSets } from './nal-codec.ts'
import { listAnnexBNalUnits } from './nal-units.ts'
import { RecoveryAccess } from './recovery-access.ts'
import { findRecoveryPoint, type RecoveryPoint } from './recovery-point.ts'

/** With less left in the memory other is begun: most access units fit, and the others move once. */
const minSpareBytes = 8 * 1024

export type NalDepacketizerOptions = {
  readonly maxFrameBytes?: number
  /** Where access units lie. Without, memory is used once. */
  readonly pool?: FrameMemoryPool | undefined
  /** Asked at a loss: whether damaged access units, and those that refer to them, are handed on as such. Without, they are dropped. */
  readonly keepsDamaged?: (() => boolean) | undefined
}

const leadingAccess: FrameAccess = { isLeading: true }
const damagedAccess: FrameAccess = { isDamaged: true }

/** In one packet; with more the rest of it is not read: nobody shall keep us busy with rubbish. */
const maxBadUnits = 32

export class NalDepacketizer implements VideoDepacketizer {
  readonly counters: VideoCounters = { pictures: 0, droppedFrames: 0, losses: 0, badPayloads: 0 }
  readonly #aggregateType: number
  readonly #fragmentType: number
  readonly #headerBytes: 1 | 2
  readonly #typeShift: number
  readonly #typeMask: number
  readonly #roles: Uint8Array
  readonly #sink: VideoSink
  readonly #maxFrameBytes: number
  readonly #sets: ParameterSets
  readonly #pool: FrameMemoryPool | undefined
  #memory: FrameMemory
  /** The rest of the memory; the access unit being collected is at its start. */
  #unit: Uint8Array
  #unitBytes = 0
  /** Where the length of the NAL unit being put together from fragments stands, or -1. */
  #fragmentStart = -1
  /** The access unit being collected; NaN between two. */
  #timestamp = Number.NaN
  #hasSlice = false
  #hasKeySlice = false
  #hasLeadingSlice = false
  #isBroken = false
  /** Told of the access unit by a message before its slices. */
  #recovery: RecoveryPoint | undefined
  #hasSets = false
  /** The last key frame came with its parameter sets, so one without may have lost them. */
  #expectsSets = false
  #isDamaged = false
  #needsKey = true
  readonly #keepsDamaged: (() => boolean) | undefined
  /** Something is missing since the last whole key frame, and what follows is handed on nevertheless. */
  #isTainted = false
  /** The last key frame is where decoding began: what is shown before it refers to pictures that are not there. */
  #skipsLeading = false
  readonly #recoveryAccess = new RecoveryAccess()
  /** Whether the RTP marker ends an access unit, as it should, is learned from the first key frame: some senders mark every slice. */
  #marker: 'unproven' | 'right' | 'wrong' = 'unproven'
  #wasMarked = false
  #lastEnded = Number.NaN

  constructor(
    codec: NalCodec,
    sink: VideoSink,
    { maxFrameBytes = 8 * 1024 * 1024, pool, keepsDamaged }: NalDepacketizerOptions = {},
  ) {
    this.#aggregateType = codec.aggregateType
    this.#fragmentType = codec.fragmentType
    this.#headerBytes = codec.headerBytes
    this.#typeShift = codec.typeShift
    this.#typeMask = codec.typeMask
    this.#roles = codec.roles
    this.#sink = sink
    this.#maxFrameBytes = maxFrameBytes
    this.#pool = pool
    this.#keepsDamaged = keepsDamaged
    this.#memory = this.#takeMemory()
    this.#unit = this.#memory.bytes
    this.#sets = codec.createSets()
  }

  takeParameterSet(nal: Uint8Array): void {
    if (nal.length > this.#headerBytes) this.#sets.take(nal, 0, nal.length)
  }

  get hasParameterSets(): boolean {
    return this.#sets.isComplete
  }

  markLoss(): void {
    this.counters.losses++
    this.#isDamaged = true
    if (!this.#needsKey && this.#keepsDamaged?.()) this.#isTainted = true
    else this.#needsKey = true
    // What has come of a NAL unit is no use without the rest.
    if (this.#fragmentStart >= 0) this.#unitBytes = this.#fragmentStart
    this.#fragmentStart = -1
  }

  push(bytes: Uint8Array, start: number, end: number, timestamp: number, isMarked: boolean): void {
    if (timestamp !== this.#timestamp) this.#begin(timestamp)
    if (end > start) {
      const type = this.#typeOf(bytes[start]!)
      if (type === this.#fragmentType) this.#takeFragment(bytes, start, end)
      else if (type === this.#aggregateType) this.#takeAggregate(bytes, start, end)
      else this.#takeWhole(bytes, start, end)
    } else if (this.#lacksPayload(isMarked)) {
      this.#refuse()
    } else if (isMarked && !this.#hasSlice && !this.#isDamaged && timestamp !== this.#lastEnded) {
      // The end of a picture of which no slice came; not padding behind one that has ended.
      if (this.#unitBytes > 0 || this.#hasSets) this.#refuse()
      else this.counters.droppedFrames++
    }
    if (isMarked && this.#hasSlice) {
      this.#wasMarked = true
      if (this.#marker === 'right') this.#end()
    }
  }

  /** An empty packet in the middle of a picture is no padding, which follows one. Some senders end a picture with it. */
  #lacksPayload(isMarked: boolean): boolean {
    return this.#fragmentStart >= 0 || (this.#hasSlice && !isMarked && this.#marker === 'right')
  }

  #typeOf(firstByte: number): number {
    return (firstByte >> this.#typeShift) & this.#typeMask
  }

  #begin(timestamp: number): void {
    if (this.#hasSlice || this.#isDamaged) this.#end()
    this.#reset(timestamp)
  }

  #reset(timestamp: number): void {
    this.#timestamp = timestamp
    this.#unitBytes = 0
    this.#fragmentStart = -1
    this.#hasSlice = false
    this.#hasKeySlice = false
    this.#hasLeadingSlice = false
    this.#isBroken = false
    this.#recovery = undefined
    this.#hasSets = false
    this.#wasMarked = false
  }

  #takeWhole(bytes: Uint8Array, start: number, end: number): void {
    if (this.#fragmentStart >= 0) this.#refuse()
    const role = this.#roles[this.#typeOf(bytes[start]!)]!
    if (role === nalRole.bad || end - start < this.#headerBytes) this.#takeStrange(bytes, start, end)
    else if (this.#isKept(role, bytes, start, end)) this.#append(bytes, start, end)
  }

  /** Some cameras put a byte stream with start codes into their packets, where a NAL unit belongs. */
  #takeStrange(bytes: Uint8Array, start: number, end: number): void {
    const hasStartCode = bytes[start] === 0 && bytes[start + 1] === 0 && (bytes[start + 2] ?? 2) <= 1
    const units = hasStartCode ? listAnnexBNalUnits(bytes.subarray(start, end)) : []
    if (units.length === 0) this.#refuse()
    const before = this.counters.badPayloads
    for (const unit of units) {
      if (this.counters.badPayloads - before > maxBadUnits) return
      const role = this.#roles[this.#typeOf(unit[0]!)]!
      if (role === nalRole.bad) this.#refuse()
      else if (this.#isKept(role, unit, 0, unit.length)) this.#append(unit, 0, unit.length)
    }
  }

  /** Notes what the NAL unit means for its access unit; false when it does not become part of it. */
  #isKept(role: number, bytes: Uint8Array, start: number, end: number): boolean {
    if (role >= nalRole.slice) {
      this.#noteSlice(role, bytes[start + this.#headerBytes] ?? 0)
      return true
    }
    if (role === nalRole.message) {
      this.#recovery ??= findRecoveryPoint(bytes, start, end, this.#headerBytes)
      return true
    }
    if (role === nalRole.parameterSet) {
      this.#hasSets = true
      try {
        this.#sets.take(bytes, start, end)
      } catch {
        this.#refuse()
      }
    }
    return role === nalRole.kept
  }

  #noteSlice(role: number, firstPayloadByte: number): void {
    // The slice begins its picture when its first bit is 1: first_mb_in_slice is 0 (H.264), first_slice_segment_in_pic_flag (H.265).
    const isFirst = firstPayloadByte >= 0x80
    const isLate = !this.#hasSlice && this.#timestamp === this.#lastEnded
    if (!isFirst && (this.#wasMarked || isLate)) this.#marker = 'wrong'
    if (!isFirst && !this.#hasSlice) this.markLoss()
    this.#hasSlice = true
    if (role === nalRole.keySlice || role === nalRole.brokenKeySlice) this.#hasKeySlice = true
    if (role === nalRole.brokenKeySlice) this.#isBroken = true
    else if (role === nalRole.leadingSlice) this.#hasLeadingSlice = true
  }

  #takeAggregate(bytes: Uint8Array, start: number, end: number): void {
    const before = this.counters.badPayloads
    let at = start + this.#headerBytes
    while (at + 2 < end) {
      if (this.counters.badPayloads - before > maxBadUnits) return
      const unitEnd = at + 2 + ((bytes[at]! << 8) | bytes[at + 1]!)
      if (unitEnd > end || unitEnd === at + 2) break
      this.#takeWhole(bytes, at + 2, unitEnd)
      at = unitEnd
    }
    if (at !== end) this.#refuse()
  }

  #takeFragment(bytes: Uint8Array, start: number, end: number): void {
    const dataStart = start + this.#headerBytes + 1
    const flags = bytes[dataStart - 1] ?? 0
    const isStart = (flags & 0x80) !== 0
    const isEmpty = dataStart >= end
    // Fragments whose start was lost with their group of pictures are nobody's fault any more.
    if (isEmpty || (isStart ? this.#fragmentStart >= 0 : this.#fragmentStart < 0 && !this.#isDamaged)) this.#refuse()
    if (isStart && !isEmpty) this.#startFragment(bytes, start, end)
    else if (this.#fragmentStart >= 0) this.#extend(bytes, dataStart, end)
    if (flags & 0x40 && this.#fragmentStart >= 0) this.#endFragment()
  }

  #startFragment(bytes: Uint8Array, start: number, end: number): void {
    const headerBytes = this.#headerBytes
    const type = bytes[start + headerBytes]! & this.#typeMask
    const role = this.#roles[type]!
    if (role >= nalRole.slice) this.#noteSlice(role, bytes[start + headerBytes + 1]!)
    const at = this.#unitBytes
    // One byte less than is there: the header of the packet and that of the fragment become the header of the NAL unit.
    if (!this.#append(bytes, start + 1, end)) return
    const keptBits = 0xff & ~(this.#typeMask << this.#typeShift)
    this.#unit[at + 4] = (bytes[start]! & keptBits) | (type << this.#typeShift)
    if (headerBytes === 2) this.#unit[at + 5] = bytes[start + 1]!
    this.#fragmentStart = at
  }

  #endFragment(): void {
    const start = this.#fragmentStart
    this.#fragmentStart = -1
    this.#writeLength(start, this.#unitBytes - start - 4)
    const role = this.#roles[this.#typeOf(this.#unit[start + 4]!)]!
    if (role === nalRole.bad) this.#refuse()
    else if (role >= nalRole.slice || this.#isKept(role, this.#unit, start + 4, this.#unitBytes)) return
    this.#unitBytes = start
  }

  /** Adds a NAL unit behind its length; false when the access unit is too large. */
  #append(bytes: Uint8Array, start: number, end: number): boolean {
    const at = this.#unitBytes
    if (!this.#reserve(4 + end - start)) return false
    this.#writeLength(at, end - start)
    this.#unit.set(bytes.subarray(start, end), at + 4)
    this.#unitBytes = at + 4 + end - start
    return true
  }

  #extend(bytes: Uint8Array, start: number, end: number): void {
    if (!this.#reserve(end - start)) return
    this.#unit.set(bytes.subarray(start, end), this.#unitBytes)
    this.#unitBytes += end - start
  }

  #writeLength(at: number, length: number): void {
    this.#unit[at] = length >> 24
    this.#unit[at + 1] = length >> 16
    this.#unit[at + 2] = length >> 8
    this.#unit[at + 3] = length
  }

  #reserve(bytes: number): boolean {
    const needed = this.#unitBytes + bytes
    if (needed > this.#maxFrameBytes) {
      this.#refuse()
      return false
    }
    if (needed <= this.#unit.length) return true
    const larger = this.#takeMemory(Math.min(this.#maxFrameBytes, needed + (needed >> 1)))
    larger.bytes.set(this.#unit.subarray(0, this.#unitBytes))
    this.#memory.release()
    this.#memory = larger
    this.#unit = larger.bytes
    return true
  }

  #takeMemory(minBytes?: number): FrameMemory {
    return this.#pool?.take(minBytes) ?? new FrameMemory(minBytes)
  }

  /** Hands on the access unit that was collected; the next one begins behind it. */
  #giveUnit(bytes: number, timestamp: number, isKey: boolean, access?: FrameAccess): void {
    const memory = this.#memory
    const data = this.#unit.subarray(0, bytes)
    if (this.#unit.length - bytes < minSpareBytes) {
      this.#memory = this.#takeMemory()
      this.#unit = this.#memory.bytes
    } else {
      memory.hold()
      this.#unit = this.#unit.subarray(bytes)
    }
    this.#sink.onFrame(data, timestamp, isKey, memory, access)
  }

  #refuse(): void {
    this.counters.badPayloads++
    this.markLoss()
  }

  #end(): void {
    if (this.#fragmentStart >= 0) this.#refuse()
    const recovery = this.#hasKeySlice ? undefined : this.#findRecovery()
    const isKey = this.#hasKeySlice || recovery !== undefined
    const isWhole = !(isKey && this.#lacksSets()) && !this.#isDamaged && this.#hasSlice
    const timestamp = this.#timestamp
    const isLeading = this.#hasLeadingSlice || (!isKey && this.#recoveryAccess.isLeading(timestamp))
    const isBroken = this.#isBroken || (recovery !== undefined && this.#recovery!.isBroken)
    const bytes = this.#unitBytes
    if (isWhole && isKey && this.#wasMarked && this.#marker === 'unproven') this.#marker = 'right'
    this.counters.pictures++
    this.#lastEnded = timestamp
    this.#reset(Number.NaN)
    this.#isDamaged = false
    if (!isKey) this.#recoveryAccess.noteOther()
    if (this.#isTainted && !this.#needsKey && !isKey) {
      if (bytes > 0) this.#giveUnit(bytes, timestamp, false, damagedAccess)
      else this.counters.droppedFrames++
      return
    }
    if (!isWhole || (this.#needsKey && !isKey) || (isKey && !this.#takeFormat())) {
      // Whatever refers to this picture can't be shown either.
      this.#needsKey = true
      this.counters.droppedFrames++
      return
    }
    if (isKey) this.#noteKey(timestamp, recovery, isBroken)
    if (isLeading && this.#skipsLeading) this.counters.droppedFrames++
    else if (recovery !== undefined) this.#giveUnit(bytes, timestamp, true, { recovery })
    else this.#giveUnit(bytes, timestamp, isKey, isLeading ? leadingAccess : undefined)
  }

  /** FFmpeg's decoder, which browsers use, makes up no references for a picture numbered 0: it can't begin there unless it needs none. */
  #findRecovery(): number | undefined {
    const mayPass = !this.#needsKey && !this.#isTainted
    const isPoor = () => mayPass && this.#sets.isNumberedZero?.(this.#unit.subarray(0, this.#unitBytes)) === true
    return this.#recoveryAccess.findCount(this.#recovery, isPoor)
  }

  #noteKey(timestamp: number, recovery: number | undefined, isBroken: boolean): void {
    this.#skipsLeading = this.#needsKey || isBroken
    this.#needsKey = false
    this.#isTainted = false
    this.#recoveryAccess.noteKey(timestamp, recovery)
  }

  /** True for the first key frame after a loss that lacks the parameter sets its stream repeats: they may have changed. */
  #lacksSets(): boolean {
    const isLacking = (this.#needsKey || this.#isTainted) && this.#expectsSets && !this.#hasSets
    if (this.#hasSets || !this.#isDamaged) this.#expectsSets = this.#hasSets
    return isLacking
  }

  /** False when a key frame can't be decoded for want of parameter sets. */
  #takeFormat(): boolean {
    if (!this.#sets.isComplete) return false
    try {
      const change = this.#sets.takeChange()
      if (change) this.#sink.onFormat(change.format, change.order)
      return true
    } catch {
      this.counters.badPayloads++
      return false
    }
  }
}

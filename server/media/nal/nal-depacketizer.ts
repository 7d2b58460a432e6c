// RTP payloads -> access units of H.264 (RFC 6184, packetization modes 0 and 1: single NAL units, STAP-A, FU-A) and
// H.265 (RFC 7798 without decoding order numbers: single NAL units, AP, FU).
//
// A lost packet costs its group of pictures: the damaged access unit and everything that refers to it is dropped until
// the next key frame, unless the owner of the camera wants to keep damaged frames. Bytes are copied once, from the
// packet to their final position behind the previous access unit.

import type { Deviation } from '../../base/deviation.ts'
import { FrameMemory, type FrameMemoryPool } from '../frame-memory.ts'
import type { FrameAccess, VideoCounters, VideoDepacketizer, VideoSink } from '../video-depacketizer.ts'
import { type NalCodec, nalRole, type ParameterSets } from './nal-codec.ts'
import { findStartCode, splitAtStartCodes } from './nal-units.ts'
import { RecoveryAccess } from './recovery-access.ts'
import { findRecoveryPoint, type RecoveryPoint } from './recovery-point.ts'

/** When less memory is left, a new block is started: most access units fit, and the others are moved once. */
const minSpareBytes = 8 * 1024

export type NalDepacketizerOptions = {
  readonly maxFrameBytes?: number
  /** Memory for the access units. Without a pool, memory is not reused. */
  readonly pool?: FrameMemoryPool | undefined
  /**
   * Called on a loss: whether to deliver and mark damaged access units and those that refer to them. Default: false.
   */
  readonly keepsDamaged?: (() => boolean) | undefined
  /** Called for each deviation, again and again. */
  readonly onDeviation?: ((deviation: Deviation) => void) | undefined
}

const leadingAccess: FrameAccess = { isLeading: true }
const damagedAccess: FrameAccess = { isDamaged: true }

/** Limit for a single packet. The rest of the packet is skipped, so that invalid data cannot keep the server busy. */
const maxBadUnits = 32

/** With so many marked pictures under one timestamp, timestamps do not tell where a picture ends. */
const maxPicturesInUnit = 3

/**
 * A camera that puts several NAL units into one does so with its first frames. Searching every frame for start codes
 * takes an eighth of the time of its packets.
 */
const searchedSlices = 100

export class NalDepacketizer implements VideoDepacketizer {
  readonly counters: VideoCounters = { frames: 0, droppedFrames: 0, losses: 0, badPayloads: 0 }
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
  /** The free part of the memory, with the current access unit at its start. */
  #unit: Uint8Array
  #unitBytes = 0
  /** Position of the length of the NAL unit that is being assembled from fragments, or -1. */
  #fragmentStart = -1
  #fragmentRole = 0
  /** Timestamp of the current access unit; NaN between access units. */
  #timestamp = Number.NaN
  #hasSlice = false
  #hasKeySlice = false
  #hasLeadingSlice = false
  #isBroken = false
  /** The recovery point from a message before the slices of the access unit. */
  #recovery: RecoveryPoint | undefined
  #hasParameterSetsInUnit = false
  /** The last key frame came with its parameter sets, so a key frame without them may have lost them. */
  #expectsParameterSets = false
  #isDamaged = false
  #needsKey = true
  readonly #keepsDamaged: (() => boolean) | undefined
  readonly #onDeviation: ((deviation: Deviation) => void) | undefined
  /** How many more slices of frames that are not key frames are searched for start codes. */
  #searchesLeft = searchedSlices
  /** Data was lost since the last intact key frame, and damaged frames are delivered. */
  #hasMissingReferences = false
  /** Decoding started at the last key frame, so its leading pictures refer to missing frames. */
  #skipsLeading = false
  readonly #recoveryAccess = new RecoveryAccess()
  /** Whether the RTP marker ends an access unit. Learned from the first key frame: some senders mark every slice. */
  #marker: 'unproven' | 'right' | 'wrong' = 'unproven'
  #wasMarked = false
  #lastEnded = Number.NaN
  /** Pictures of this access unit after one that was marked as complete. */
  #picturesInUnit = 0

  constructor(
    codec: NalCodec,
    sink: VideoSink,
    { maxFrameBytes = 8 * 1024 * 1024, pool, keepsDamaged, onDeviation }: NalDepacketizerOptions = {},
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
    this.#onDeviation = onDeviation
    this.#memory = this.#takeMemory()
    this.#unit = this.#memory.bytes
    this.#sets = codec.createSets()
  }

  takeParameterSet(nal: Uint8Array): void {
    // Some cameras put a start code before a set, or all sets into one.
    for (const unit of splitAtStartCodes(nal)) {
      if (unit.length > this.#headerBytes) this.#sets.take(unit, 0, unit.length)
    }
  }

  get hasParameterSets(): boolean {
    return this.#sets.isComplete
  }

  markLoss(): void {
    this.counters.losses++
    this.#isDamaged = true
    if (!this.#needsKey && this.#keepsDamaged?.()) this.#hasMissingReferences = true
    else this.#needsKey = true
    // The received part of a NAL unit is useless without the rest.
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
      this.#reject()
    } else if (isMarked && !this.#hasSlice && !this.#isDamaged && timestamp !== this.#lastEnded) {
      // The end of a frame without slices, unless it is padding after a frame that has ended.
      if (this.#unitBytes > 0 || this.#hasParameterSetsInUnit) this.#reject()
      else this.counters.droppedFrames++
    }
    if (isMarked && this.#hasSlice) {
      this.#wasMarked = true
      if (this.#marker === 'right') this.#end()
    }
  }

  endMarked(): void {
    if (this.#wasMarked && this.#hasSlice && this.#fragmentStart < 0) this.#end()
  }

  /** Padding follows a frame; inside a frame an empty packet is an error. Some senders end a frame with one. */
  #lacksPayload(isMarked: boolean): boolean {
    return this.#fragmentStart >= 0 || (this.#hasSlice && !isMarked && this.#marker === 'right')
  }

  #typeOf(firstByte: number): number {
    return (firstByte >> this.#typeShift) & this.#typeMask
  }

  /** Decoders of one layer ignore the units of others: of H.265, those with a `nuh_layer_id` (7.4.2.2). */
  #roleOf(bytes: Uint8Array, start: number): number {
    const role = this.#roles[this.#typeOf(bytes[start]!)]!
    const isOfLayer = this.#headerBytes === 2 && ((bytes[start]! & 1) !== 0 || (bytes[start + 1] ?? 0) >= 8)
    return isOfLayer ? nalRole.foreign : role
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
    this.#hasParameterSetsInUnit = false
    this.#wasMarked = false
    this.#picturesInUnit = 0
  }

  #takeWhole(bytes: Uint8Array, start: number, end: number): void {
    if (this.#fragmentStart >= 0) this.#reject()
    if (this.#isJoined(this.#roleOf(bytes, start), bytes, start, end)) this.#takeSeveral(bytes.subarray(start, end))
    else this.#takeUnit(bytes, start, end)
  }

  #takeUnit(bytes: Uint8Array, start: number, end: number): void {
    const role = this.#roleOf(bytes, start)
    if (role === nalRole.bad || end - start < this.#headerBytes) this.#reject()
    else if (this.#isKept(role, bytes, start, end)) this.#append(bytes, start, end)
  }

  /** Whether the unit contains a start code, which no NAL unit does. */
  #isJoined(role: number, bytes: Uint8Array, start: number, end: number): boolean {
    const isOrdinary = role === nalRole.slice || role === nalRole.leadingSlice
    if (isOrdinary && this.#searchesLeft === 0) return false
    if (findStartCode(bytes, start, end) >= 0) {
      this.#searchesLeft = Number.POSITIVE_INFINITY
      return true
    }
    if (isOrdinary) this.#searchesLeft--
    return false
  }

  /** Some cameras put a byte stream with start codes in place of a NAL unit. */
  #takeSeveral(bytes: Uint8Array): void {
    this.#onDeviation?.('joined_units')
    const before = this.counters.badPayloads
    for (const unit of splitAtStartCodes(bytes)) {
      if (this.counters.badPayloads - before > maxBadUnits) return
      this.#takeUnit(unit, 0, unit.length)
    }
  }

  /** Updates the state of the access unit. Returns whether the NAL unit becomes part of it. */
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
      this.#hasParameterSetsInUnit = true
      try {
        this.#sets.take(bytes, start, end)
      } catch {
        this.#reject()
      }
    }
    if (role === nalRole.foreign) this.#onDeviation?.('private_units')
    return role === nalRole.kept
  }

  #noteSlice(role: number, firstPayloadByte: number): void {
    // The first bit is set in the first slice of a picture: first_mb_in_slice is 0 (H.264), or
    // first_slice_segment_in_pic_flag (H.265).
    const isFirst = firstPayloadByte >= 0x80
    const isLate = !this.#hasSlice && this.#timestamp === this.#lastEnded
    if (!isFirst && (this.#wasMarked || isLate)) this.#marker = 'wrong'
    if (!isFirst && !this.#hasSlice) this.markLoss()
    // Timestamps that do not change end no frame. Two fields of a picture share one, more pictures do not.
    if (isFirst && this.#wasMarked && this.#marker === 'unproven' && ++this.#picturesInUnit >= maxPicturesInUnit) {
      this.#marker = 'right'
      this.markLoss()
    }
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
      if (unitEnd > end) {
        this.#reject()
        return
      }
      // Sizes of 0, and a last byte or two that hold no unit, are padding.
      if (unitEnd > at + 2) this.#takeWhole(bytes, at + 2, unitEnd)
      at = unitEnd
    }
  }

  /** Some cameras send fragments of headers alone: a last one for the end bit, or a first or middle one. */
  #takeFragment(bytes: Uint8Array, start: number, end: number): void {
    const dataStart = start + this.#headerBytes + 1
    const flags = bytes[dataStart - 1] ?? 0
    const isStart = (flags & 0x80) !== 0
    const isCut = dataStart > end
    // Fragments whose start was lost together with their group of pictures are not counted again.
    if (isCut || (isStart ? this.#fragmentStart >= 0 : this.#fragmentStart < 0 && !this.#isDamaged)) this.#reject()
    if (isCut) return
    if (dataStart === end) this.#onDeviation?.('empty_fragments')
    if (isStart) this.#startFragment(bytes, start, dataStart)
    if (this.#fragmentStart >= 0 && dataStart < end) this.#extend(bytes, dataStart, end)
    if (flags & 0x40 && this.#fragmentStart >= 0) this.#endFragment()
  }

  /** Appends the header of the NAL unit, which is made of those of packet and fragment. */
  #startFragment(bytes: Uint8Array, start: number, dataStart: number): void {
    const headerBytes = this.#headerBytes
    const type = bytes[dataStart - 1]! & this.#typeMask
    const at = this.#unitBytes
    if (!this.#append(bytes, start, start + headerBytes)) return
    const keptBits = 0xff & ~(this.#typeMask << this.#typeShift)
    // Type 0 is that of a start code, which begins with two bytes of 0.
    this.#unit[at + 4] = type === 0 && headerBytes === 1 ? 0 : (bytes[start]! & keptBits) | (type << this.#typeShift)
    this.#fragmentStart = at
    this.#fragmentRole = this.#roleOf(this.#unit, at + 4)
  }

  #extend(bytes: Uint8Array, start: number, end: number): void {
    const role = this.#fragmentRole
    if (role >= nalRole.slice && this.#unitBytes === this.#fragmentStart + 4 + this.#headerBytes)
      this.#noteSlice(role, bytes[start]!)
    if (!this.#reserve(end - start)) return
    this.#unit.set(bytes.subarray(start, end), this.#unitBytes)
    this.#unitBytes += end - start
  }

  #endFragment(): void {
    const start = this.#fragmentStart
    const [unitStart, end] = [start + 4, this.#unitBytes]
    this.#fragmentStart = -1
    const role = this.#fragmentRole
    if (this.#isJoined(role, this.#unit, unitStart, end)) {
      this.#unitBytes = start
      this.#takeSeveral(this.#unit.slice(unitStart, end))
      return
    }
    this.#writeLength(start, end - unitStart)
    if (role === nalRole.bad || end - unitStart === this.#headerBytes) this.#reject()
    else if (role >= nalRole.slice || this.#isKept(role, this.#unit, unitStart, end)) return
    this.#unitBytes = start
  }

  /** Appends a NAL unit after its length. Returns false when the access unit is too large. */
  #append(bytes: Uint8Array, start: number, end: number): boolean {
    const at = this.#unitBytes
    if (!this.#reserve(4 + end - start)) return false
    this.#writeLength(at, end - start)
    this.#unit.set(bytes.subarray(start, end), at + 4)
    this.#unitBytes = at + 4 + end - start
    return true
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
      this.#reject()
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

  /** Delivers the current access unit. The next one begins behind it. */
  #deliverUnit(bytes: number, timestamp: number, isKey: boolean, access?: FrameAccess): void {
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

  #reject(): void {
    this.counters.badPayloads++
    this.markLoss()
  }

  #end(): void {
    if (this.#fragmentStart >= 0) this.#reject()
    const recovery = this.#hasKeySlice ? undefined : this.#findRecovery()
    const isKey = this.#hasKeySlice || recovery !== undefined
    const isWhole = !(isKey && this.#lacksParameterSets()) && !this.#isDamaged && this.#hasSlice
    const timestamp = this.#timestamp
    const isLeading = this.#hasLeadingSlice || (!isKey && this.#recoveryAccess.isLeading(timestamp))
    const isBroken = this.#isBroken || (recovery !== undefined && this.#recovery!.isBroken)
    const bytes = this.#unitBytes
    if (isWhole && isKey && this.#wasMarked && this.#marker === 'unproven') this.#marker = 'right'
    this.counters.frames++
    this.#lastEnded = timestamp
    this.#reset(Number.NaN)
    this.#isDamaged = false
    if (!isKey) this.#recoveryAccess.noteNonKeyFrame()
    if (this.#hasMissingReferences && !this.#needsKey && !isKey) {
      if (bytes > 0) this.#deliverUnit(bytes, timestamp, false, damagedAccess)
      else this.counters.droppedFrames++
      return
    }
    if (!isWhole || (this.#needsKey && !isKey) || (isKey && !this.#takeFormat())) {
      // Frames that refer to this one cannot be shown either.
      this.#needsKey = true
      this.counters.droppedFrames++
      return
    }
    if (isKey) this.#noteKeyFrame(timestamp, recovery, isBroken)
    if (isLeading && this.#skipsLeading) this.counters.droppedFrames++
    else if (recovery !== undefined) this.#deliverUnit(bytes, timestamp, true, { recovery })
    else this.#deliverUnit(bytes, timestamp, isKey, isLeading ? leadingAccess : undefined)
  }

  /**
   * Returns the recovery count if decoding may start here. FFmpeg's decoder, which browsers use, does not substitute
   * missing references for a frame with frame number 0, so it cannot start there unless the frame needs no references.
   */
  #findRecovery(): number | undefined {
    const maySkip = !this.#needsKey && !this.#hasMissingReferences
    const isProblematic = () =>
      maySkip && this.#sets.hasZeroFrameNumber?.(this.#unit.subarray(0, this.#unitBytes)) === true
    return this.#recoveryAccess.findCount(this.#recovery, isProblematic)
  }

  #noteKeyFrame(timestamp: number, recovery: number | undefined, isBroken: boolean): void {
    this.#skipsLeading = this.#needsKey || isBroken
    this.#needsKey = false
    this.#hasMissingReferences = false
    this.#recoveryAccess.noteKeyFrame(timestamp, recovery)
  }

  /**
   * Whether the first key frame after a loss lacks the parameter sets that its stream repeats; they may have changed.
   */
  #lacksParameterSets(): boolean {
    const isLacking =
      (this.#needsKey || this.#hasMissingReferences) && this.#expectsParameterSets && !this.#hasParameterSetsInUnit
    if (this.#hasParameterSetsInUnit || !this.#isDamaged) this.#expectsParameterSets = this.#hasParameterSetsInUnit
    return isLacking
  }

  /** Returns false when a key frame cannot be decoded because parameter sets are missing. */
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

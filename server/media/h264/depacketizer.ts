// RTP payloads -> H.264 access units (RFC 6184, packetization modes 0 and 1: single NAL units, STAP-A, FU-A).
//
// A lost packet costs its group of pictures: the damaged access unit and all that refer to it are dropped until the next key
// frame, never handed on. Bytes are copied once, from the packet to where the access unit stays: consecutive ones share a slab of
// memory, so that the collector has few buffers to count (figures, and what they leave open: docs/design/ingest.md).

import type { VideoFormat } from '../frame.ts'
import { nalType } from './nal-unit.ts'
import { ParameterSets } from './parameter-sets.ts'

export type H264Sink = {
  /** The parameter sets are known or have changed; an access unit that is a key frame follows at once. */
  onFormat(format: VideoFormat): void
  /** NAL units with 4-byte lengths, without parameter sets, delimiters and filler; `timestamp` as pushed. */
  onAccessUnit(data: Uint8Array, timestamp: number, isKey: boolean): void
}

export type H264Counters = {
  /** Access units that ended, handed on or not. */
  accessUnits: number
  /** Access units not handed on: damaged, or waiting for a key frame after damage. */
  droppedFrames: number
  /** Payloads that break RFC 6184 or use what modes 0 and 1 exclude. */
  badPayloads: number
}

/** About a second of a usual camera: what the frames of a group of pictures keep alive beyond their own bytes is little. */
const slabBytes = 256 * 1024

/** With less left in the slab a new one is begun: most access units fit, and the others move once. */
const minSpareBytes = 8 * 1024

export class H264Depacketizer {
  readonly counters: H264Counters = { accessUnits: 0, droppedFrames: 0, badPayloads: 0 }
  readonly #sink: H264Sink
  readonly #maxFrameBytes: number
  readonly #sets = new ParameterSets()
  /** The rest of the slab; the access unit being collected is at its start. */
  #unit = new Uint8Array(slabBytes)
  #unitBytes = 0
  /** Where the length of the NAL unit being put together from fragments stands, or -1. */
  #fragmentStart = -1
  /** The access unit being collected; NaN between two. */
  #timestamp = Number.NaN
  #hasSlice = false
  #hasKeySlice = false
  #hasSets = false
  /** The last key frame came with its parameter sets, so one without may have lost them. */
  #expectsSets = false
  #isDamaged = false
  #needsKey = true
  /** Whether the RTP marker ends an access unit, as it should, is learned from the first key frame: some senders mark every slice. */
  #marker: 'unproven' | 'right' | 'wrong' = 'unproven'
  #wasMarked = false
  #lastEnded = Number.NaN

  constructor(sink: H264Sink, { maxFrameBytes = 8 * 1024 * 1024 }: { readonly maxFrameBytes?: number } = {}) {
    this.#sink = sink
    this.#maxFrameBytes = maxFrameBytes
  }

  /** A parameter set from `sprop-parameter-sets`. @throws AppError 'corrupt' */
  takeParameterSet(nal: Uint8Array): void {
    if (nal.length > 0) this.#sets.take(nal, 0, nal.length)
  }

  /** True when parameter sets are known, so that only a key frame is missing to begin. */
  get hasParameterSets(): boolean {
    return this.#sets.isComplete
  }

  /** Packets are missing before the next payload. */
  markLoss(): void {
    this.#isDamaged = true
    this.#needsKey = true
    this.#fragmentStart = -1
  }

  /**
   * The payload `bytes[start, end)` of one packet; `timestamp` is equal in packets of one access unit and may be in any unit.
   * Never throws on what a camera sends: what is broken is counted and costs its group of pictures.
   */
  push(bytes: Uint8Array, start: number, end: number, timestamp: number, isMarked: boolean): void {
    if (timestamp !== this.#timestamp) this.#begin(timestamp)
    if (end > start) {
      const type = bytes[start]! & 0x1f
      if (type === nalType.fuA) this.#takeFragment(bytes, start, end)
      else if (type === nalType.stapA) this.#takeAggregate(bytes, start, end)
      else this.#takeWhole(bytes, start, end)
    }
    if (isMarked && this.#hasSlice) {
      this.#wasMarked = true
      if (this.#marker === 'right') this.#end()
    }
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
    this.#hasSets = false
    this.#wasMarked = false
  }

  #takeWhole(bytes: Uint8Array, start: number, end: number): void {
    if (this.#fragmentStart >= 0) this.#refuse()
    const type = bytes[start]! & 0x1f
    if (type === 0 || type >= nalType.stapA) this.#refuse()
    else if (this.#isKept(type, bytes, start, end)) this.#append(bytes, start, end)
  }

  /** Notes what the NAL unit means for its access unit; false when it does not become part of it. */
  #isKept(type: number, bytes: Uint8Array, start: number, end: number): boolean {
    if (type === nalType.sps || type === nalType.pps) {
      this.#hasSets = true
      try {
        this.#sets.take(bytes, start, end)
      } catch {
        this.#refuse()
      }
      return false
    }
    if (type >= nalType.accessUnitDelimiter && type <= nalType.filler) return false
    if (type <= nalType.idr) this.#noteSlice(type, bytes[start + 1] ?? 0)
    return true
  }

  #noteSlice(type: number, firstPayloadByte: number): void {
    // first_mb_in_slice is 0 when its code is a single 1 bit: only such a slice can begin a picture.
    const isFirst = firstPayloadByte >= 0x80
    const isLate = !this.#hasSlice && this.#timestamp === this.#lastEnded
    if (!isFirst && (this.#wasMarked || isLate)) this.#marker = 'wrong'
    if (!isFirst && !this.#hasSlice) this.markLoss()
    this.#hasSlice = true
    if (type === nalType.idr) this.#hasKeySlice = true
  }

  #takeAggregate(bytes: Uint8Array, start: number, end: number): void {
    let at = start + 1
    while (at + 2 < end) {
      const unitEnd = at + 2 + ((bytes[at]! << 8) | bytes[at + 1]!)
      if (unitEnd > end || unitEnd === at + 2) break
      this.#takeWhole(bytes, at + 2, unitEnd)
      at = unitEnd
    }
    if (at !== end) this.#refuse()
  }

  #takeFragment(bytes: Uint8Array, start: number, end: number): void {
    const flags = bytes[start + 1] ?? 0
    const isStart = (flags & 0x80) !== 0
    // Fragments whose start was lost with their group of pictures are nobody's fault any more.
    if (end - start < 3 || (isStart ? this.#fragmentStart >= 0 : this.#fragmentStart < 0 && !this.#isDamaged)) {
      this.#refuse()
    }
    if (isStart && end - start >= 3) this.#startFragment(bytes, start, end)
    else if (this.#fragmentStart >= 0) this.#extend(bytes, start + 2, end)
    if (flags & 0x40 && this.#fragmentStart >= 0) this.#endFragment()
  }

  #startFragment(bytes: Uint8Array, start: number, end: number): void {
    const type = bytes[start + 1]! & 0x1f
    if (type <= nalType.idr) this.#noteSlice(type, bytes[start + 2]!)
    const at = this.#unitBytes
    // The second byte becomes the NAL header.
    if (!this.#append(bytes, start + 1, end)) return
    this.#unit[at + 4] = (bytes[start]! & 0xe0) | type
    this.#fragmentStart = at
  }

  #endFragment(): void {
    const start = this.#fragmentStart
    this.#fragmentStart = -1
    this.#writeLength(start, this.#unitBytes - start - 4)
    const type = this.#unit[start + 4]! & 0x1f
    if (type <= nalType.idr || this.#isKept(type, this.#unit, start + 4, this.#unitBytes)) return
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
    const larger = new Uint8Array(Math.max(slabBytes, Math.min(this.#maxFrameBytes, needed + (needed >> 1))))
    larger.set(this.#unit.subarray(0, this.#unitBytes))
    this.#unit = larger
    return true
  }

  /** The access unit that was collected; the next one begins behind it. */
  #takeUnit(bytes: number): Uint8Array {
    const data = this.#unit.subarray(0, bytes)
    const isAlmostFull = this.#unit.length - bytes < minSpareBytes
    this.#unit = isAlmostFull ? new Uint8Array(slabBytes) : this.#unit.subarray(bytes)
    return data
  }

  #refuse(): void {
    this.counters.badPayloads++
    this.markLoss()
  }

  #end(): void {
    if (this.#fragmentStart >= 0) this.#refuse()
    const isWhole = !this.#lacksSets() && !this.#isDamaged && this.#hasSlice
    const isKey = this.#hasKeySlice
    const timestamp = this.#timestamp
    const bytes = this.#unitBytes
    if (isWhole && isKey && this.#wasMarked && this.#marker === 'unproven') this.#marker = 'right'
    this.counters.accessUnits++
    this.#lastEnded = timestamp
    this.#reset(Number.NaN)
    this.#isDamaged = false
    if (!isWhole || (this.#needsKey && !isKey) || (isKey && !this.#takeFormat())) {
      // Whatever refers to this picture can't be shown either.
      this.#needsKey = true
      this.counters.droppedFrames++
      return
    }
    this.#needsKey = false
    this.#sink.onAccessUnit(this.#takeUnit(bytes), timestamp, isKey)
  }

  /** True for the first key frame after a loss that lacks the parameter sets its stream repeats: they may have changed. */
  #lacksSets(): boolean {
    if (!this.#hasKeySlice) return false
    const isLacking = this.#needsKey && this.#expectsSets && !this.#hasSets
    if (this.#hasSets || !this.#isDamaged) this.#expectsSets = this.#hasSets
    return isLacking
  }

  /** False when a key frame can't be decoded for want of parameter sets. */
  #takeFormat(): boolean {
    if (!this.#sets.isComplete) return false
    try {
      const format = this.#sets.takeChange()
      if (format) this.#sink.onFormat(format)
      return true
    } catch {
      this.counters.badPayloads++
      return false
    }
  }
}

// Splits the payloads of one packet identifier (PID) into packets of 188 bytes with continuity counters. ISO/IEC
// 13818-1 2.4.3.2 to 2.4.3.5.

import { wrap33 } from './pes.ts'

export const packetBytes = 188
const payloadBytes = packetBytes - 4

export type PacketizeOptions = {
  /** Program clock reference to send with the first packet, in 90 kHz ticks. */
  readonly pcr90k?: number
  /** A decoder may start at this unit. */
  readonly isRandomAccess?: boolean
}

export class Packetizer {
  readonly #pid: number
  #continuity = 0

  constructor(pid: number) {
    this.#pid = pid
  }

  /**
   * Returns one PES packet or section (with its pointer field), given in parts, as whole packets. The last packet is
   * stuffed.
   */
  packetize(parts: readonly Uint8Array[], { pcr90k, isRandomAccess = false }: PacketizeOptions = {}): Uint8Array {
    const total = parts.reduce((sum, part) => sum + part.length, 0)
    const fieldBytes = pcr90k === undefined ? (isRandomAccess ? 2 : 0) : 8
    const count = Math.max(1, Math.ceil((total + fieldBytes) / payloadBytes))
    const out = new Uint8Array(count * packetBytes)
    const source = new PartReader(parts)
    let left = total
    for (let at = 0; at < out.length; at += packetBytes) {
      const isFirst = at === 0
      const wanted = isFirst ? fieldBytes : 0
      const room = payloadBytes - wanted
      const stuffing = Math.max(0, room - left)
      this.#writeHeader(out, at, isFirst, wanted + stuffing > 0)
      if (wanted + stuffing > 0)
        writeAdaptation(out, at + 4, wanted + stuffing, isFirst ? { pcr90k, isRandomAccess } : {})
      const payloadAt = at + 4 + wanted + stuffing
      source.read(out, payloadAt, at + packetBytes)
      left -= at + packetBytes - payloadAt
    }
    return out
  }

  #writeHeader(out: Uint8Array, at: number, isStart: boolean, hasAdaptation: boolean): void {
    out[at] = 0x47
    out[at + 1] = (isStart ? 0x40 : 0) | (this.#pid >>> 8)
    out[at + 2] = this.#pid & 0xff
    out[at + 3] = (hasAdaptation ? 0x30 : 0x10) | this.#continuity
    this.#continuity = (this.#continuity + 1) & 0x0f
  }
}

/** `bytes` is the length of the whole adaptation field, including its own length byte. */
function writeAdaptation(
  out: Uint8Array,
  at: number,
  bytes: number,
  { pcr90k, isRandomAccess }: { pcr90k?: number | undefined; isRandomAccess?: boolean },
): void {
  out[at] = bytes - 1
  if (bytes === 1) return
  out[at + 1] = (isRandomAccess ? 0x40 : 0) | (pcr90k === undefined ? 0 : 0x10)
  let next = at + 2
  if (pcr90k !== undefined) {
    const base = wrap33(pcr90k)
    const low = base % 2 // 33 bits of base, 6 reserved, 9 of extension (always 0 with a 90 kHz clock)
    const high = (base - low) / 2
    out[next] = high >>> 24
    out[next + 1] = (high >>> 16) & 0xff
    out[next + 2] = (high >>> 8) & 0xff
    out[next + 3] = high & 0xff
    out[next + 4] = (low << 7) | 0x7e
    out[next + 5] = 0
    next += 6
  }
  out.fill(0xff, next, at + bytes)
}

/** Reads several byte arrays as if they were one. */
class PartReader {
  readonly #parts: readonly Uint8Array[]
  #part = 0
  #offset = 0

  constructor(parts: readonly Uint8Array[]) {
    this.#parts = parts
  }

  /** Fills `out` from `start` to `end`. The parts must contain enough bytes. */
  read(out: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end; ) {
      const part = this.#parts[this.#part]!
      const count = Math.min(end - at, part.length - this.#offset)
      out.set(part.subarray(this.#offset, this.#offset + count), at)
      at += count
      this.#offset += count
      if (this.#offset === part.length) {
        this.#part++
        this.#offset = 0
      }
    }
  }
}

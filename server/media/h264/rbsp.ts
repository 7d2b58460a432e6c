// The bits of an H.264 NAL unit without emulation prevention bytes (ISO/IEC 14496-10 7.3.1, 7.4.1), for reading by
// position, changing and writing.

import { AppError } from '../../base/error.ts'

/** Returns a copy of the NAL unit without emulation prevention bytes. */
export function unescapeNal(nal: Uint8Array): Uint8Array {
  const out = new Uint8Array(nal.length)
  let length = 0
  let zeros = 0
  for (const byte of nal) {
    if (zeros >= 2 && byte === 3) {
      zeros = 0
      continue
    }
    zeros = byte === 0 ? zeros + 1 : 0
    out[length++] = byte
  }
  return out.subarray(0, length)
}

/** Inserts emulation prevention bytes; the inverse of `unescapeNal`. */
export function escapeNal(rbsp: Uint8Array): Uint8Array {
  let added = 0
  let zeros = 0
  for (const byte of rbsp) {
    if (zeros >= 2 && byte <= 3) {
      added++
      zeros = 0
    }
    zeros = byte === 0 ? zeros + 1 : 0
  }
  if (added === 0) return rbsp
  const out = new Uint8Array(rbsp.length + added)
  let at = 0
  zeros = 0
  for (const byte of rbsp) {
    if (zeros >= 2 && byte <= 3) {
      out[at++] = 3
      zeros = 0
    }
    zeros = byte === 0 ? zeros + 1 : 0
    out[at++] = byte
  }
  return out
}

/** Reads bits of unescaped bytes and reports their positions. All methods throw AppError 'corrupt' beyond the end. */
export class RbspReader {
  readonly #bytes: Uint8Array
  /** Position of the next bit. */
  at: number

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes
    this.at = at
  }

  bit(): number {
    const byte = this.#bytes[this.at >> 3]
    if (byte === undefined) throw new AppError('corrupt', 'H.264: the slice header is too short')
    return (byte >> (7 - (this.at++ & 7))) & 1
  }

  bits(count: number): number {
    let value = 0
    for (let i = 0; i < count; i++) value = value * 2 + this.bit()
    return value
  }

  /** Reads a number of fixed length and its position. */
  field(count: number): { readonly from: number; readonly to: number; readonly value: number } {
    const from = this.at
    const value = this.bits(count)
    return { from, to: this.at, value }
  }

  /** Reads ue(v); for se(v), returns the code number. */
  unsigned(): number {
    let zeros = 0
    while (this.bit() === 0) {
      if (++zeros > 31) throw new AppError('corrupt', 'H.264: a number in the slice header is too long')
    }
    return 2 ** zeros - 1 + this.bits(zeros)
  }
}

/** Collects bits into bytes. */
export class RbspWriter {
  #bytes: Uint8Array
  /** Number of bits written. */
  at = 0

  constructor(maxBytes: number) {
    this.#bytes = new Uint8Array(maxBytes)
  }

  bits(value: number, count: number): void {
    for (let i = count - 1; i >= 0; i--) {
      if (Math.floor(value / 2 ** i) % 2 === 1) this.#bytes[this.at >> 3]! |= 0x80 >> (this.at & 7)
      this.at++
    }
  }

  /** Copies bits `[from, to)` of other bytes, whole bytes at a time where both sides are aligned. */
  copy(bytes: Uint8Array, from: number, to: number): void {
    let place = from
    while (place < to && (place & 7) !== 0) {
      this.bits((bytes[place >> 3]! >> (7 - (place & 7))) & 1, 1)
      place++
    }
    const shift = this.at & 7
    const end = to >> 3
    let at = this.at >> 3
    if (shift === 0 && place < to) {
      this.#bytes.set(bytes.subarray(place >> 3, end), at)
    } else {
      for (let i = place >> 3; i < end; i++) {
        const byte = bytes[i]!
        this.#bytes[at]! |= byte >> shift
        this.#bytes[++at]! = (byte << (8 - shift)) & 0xff
      }
    }
    if (place < to) {
      this.at += end * 8 - place
      place = end * 8
    }
    for (; place < to; place++) this.bits((bytes[place >> 3]! >> (7 - (place & 7))) & 1, 1)
  }

  /** Returns the written bytes. An incomplete last byte is padded with zeros. */
  take(): Uint8Array {
    return this.#bytes.subarray(0, (this.at + 7) >> 3)
  }
}

// Reads the bits of a NAL unit and skips emulation prevention bytes (ITU-T H.264 7.3.1, 9.1; H.265 7.3.1.1, 9.2).

import { AppError } from '../../base/error.ts'

export class BitReader {
  readonly #bytes: Uint8Array
  #at = 0
  #bit = 0
  #zeros = 0
  #skipped = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** The number of bits that have been read, without emulation prevention bytes. */
  get position(): number {
    return (this.#at - this.#skipped) * 8 + this.#bit
  }

  /** Reads one bit. @throws AppError 'corrupt' beyond the end */
  bit(): number {
    if (this.#bit === 0) this.#skipEmulation()
    const byte = this.#bytes[this.#at]
    if (byte === undefined) throw new AppError('corrupt', 'the parameter set is too short')
    const value = (byte >> (7 - this.#bit)) & 1
    if (++this.#bit === 8) {
      this.#bit = 0
      this.#at++
      this.#zeros = byte === 0 ? this.#zeros + 1 : 0
    }
    return value
  }

  /** Reads an unsigned number of up to 32 bits. */
  bits(count: number): number {
    let value = 0
    for (let i = 0; i < count; i++) value = value * 2 + this.bit()
    return value
  }

  /** Reads ue(v), an unsigned Exp-Golomb number. */
  unsigned(): number {
    let zeros = 0
    while (this.bit() === 0) {
      if (++zeros > 31) throw new AppError('corrupt', 'a number in the parameter set is too long')
    }
    return 2 ** zeros - 1 + this.bits(zeros)
  }

  /** Reads se(v), a signed Exp-Golomb number. */
  signed(): number {
    const value = this.unsigned()
    return value % 2 === 1 ? (value + 1) / 2 : -value / 2
  }

  #skipEmulation(): void {
    if (this.#zeros >= 2 && this.#bytes[this.#at] === 3) {
      this.#at++
      this.#skipped++
      this.#zeros = 0
    }
  }
}

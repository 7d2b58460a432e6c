// The two counters of an RTP stream that wrap around: 32-bit timestamps made continuous, 16-bit sequence numbers checked for
// gaps (RFC 3550 5.1, A.1).

/** Turns wrapping 32-bit timestamps into a continuous count; a step of less than 2³¹ either way is taken as it is. */
export class TimestampUnwrapper {
  #last: number | undefined

  /** The first timestamp is itself; later ones may be below it or above 2³². */
  unwrap(timestamp: number): number {
    this.#last = this.#last === undefined ? timestamp : this.#last + ((timestamp - this.#last) | 0)
    return this.#last
  }
}

/** More missing than this means the sender began a new count rather than lost so many. */
const maxLost = 3000

export class SequenceTracker {
  #last: number | undefined
  #cycles = 0
  #expected = 0

  /** The newest sequence number, its wraps counted above bit 16. */
  get highest(): number {
    return this.#last === undefined ? 0 : this.#cycles * 0x10000 + this.#last
  }

  /** How many packets there must have been so far, as far as we can know. */
  get expected(): number {
    return this.#expected
  }

  /**
   * How many packets are missing before this one: 0 when it is the one expected, -1 when it is old or a repetition and is to
   * be left out. A sender that starts counting anew costs at least one packet as far as we can know.
   */
  advance(sequence: number): number {
    const last = this.#last ?? (sequence - 1) & 0xffff
    const gap = (sequence - last - 1) & 0xffff
    // A step back by a little is a repetition; anything else that is not a small gap is a new count.
    if (gap > 0xffff - 100) return -1
    if (sequence < last && this.#last !== undefined) this.#cycles++
    this.#last = sequence
    const lost = gap > maxLost ? 1 : gap
    this.#expected += lost + 1
    return lost
  }
}

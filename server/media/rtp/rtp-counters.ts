// The two counters of an RTP stream that wrap around: unwraps 32-bit timestamps, and checks 16-bit sequence numbers for
// gaps (RFC 3550 5.1, A.1).

/** Unwraps 32-bit timestamps into a continuous count. Steps of less than 2³¹ in either direction are supported. */
export class TimestampUnwrapper {
  #last: number | undefined

  /** The first timestamp is returned unchanged; later results may be below it or above 2³². */
  unwrap(timestamp: number): number {
    this.#last = this.#last === undefined ? timestamp : this.#last + ((timestamp - this.#last) | 0)
    return this.#last
  }
}

/** When more packets are missing, the sender has started a new sequence rather than lost so many. */
const maxLost = 3000

export class SequenceTracker {
  #last: number | undefined
  #cycles = 0
  #expected = 0

  /** The newest sequence number, with the number of wraps above bit 16. */
  get highest(): number {
    return this.#last === undefined ? 0 : this.#cycles * 0x10000 + this.#last
  }

  /** The number of packets sent so far, as far as known. */
  get expected(): number {
    return this.#expected
  }

  /**
   * Returns the number of packets missing before this one: 0 when it is the expected one, -1 when it is old or a
   * duplicate and must be dropped. A sender that starts a new sequence counts as one lost packet, because the real
   * number is unknown.
   */
  advance(sequence: number): number {
    const last = this.#last ?? (sequence - 1) & 0xffff
    const gap = (sequence - last - 1) & 0xffff
    // A small step back is a duplicate. Anything else that is not a small gap is a new sequence.
    if (gap > 0xffff - 100) return -1
    if (sequence < last && this.#last !== undefined) this.#cycles++
    this.#last = sequence
    const lost = gap > maxLost ? 1 : gap
    this.#expected += lost + 1
    return lost
  }

  /** Whether this sequence number continues the sequence, with few packets missing at most. */
  isNext(sequence: number): boolean {
    return this.#last !== undefined && ((sequence - this.#last - 1) & 0xffff) < 100
  }

  /** Goes on from this sequence number, which the sender has stepped back to. */
  stepBack(sequence: number): void {
    this.#last = sequence
    this.#expected++
  }
}

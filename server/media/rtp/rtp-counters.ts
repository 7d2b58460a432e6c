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
  #next: number | undefined

  /**
   * How many packets are missing before this one: 0 when it is the one expected, -1 when it is old or a repetition and is to
   * be left out. A sender that starts counting anew costs at least one packet as far as we can know.
   */
  advance(sequence: number): number {
    const gap = this.#next === undefined ? 0 : (sequence - this.#next) & 0xffff
    // A step back by a little is a repetition; anything else that is not a small gap is a new count.
    if (gap > 0xffff - 100) return -1
    this.#next = (sequence + 1) & 0xffff
    return gap > maxLost ? 1 : gap
  }
}

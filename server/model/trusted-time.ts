// By which time old things are deleted: the machine's clock, as long as it passes as time does. What a clock that was
// set ahead deletes does not come back when it is put right, so a step is followed only after the clock has kept to it
// for a day. docs/design/retention.md.

/** What is kept over a restart. */
export type KeptTime = {
  /** Unix milliseconds. */
  readonly timeMs: number
  /** For how long the clock has disagreed, counting only time in which the server ran. */
  readonly doubtedMs: number
  /** The smallest disagreement meanwhile; above 0: the clock is ahead. */
  readonly leastMs: number
}

/** A clock that is off by no more is followed at once: a restart, a correction. */
export const trustedStepMs = 10 * 60_000

/** What the clock has shown for so long is true. */
export const confirmationMs = 24 * 3_600_000

export class TrustedTime {
  #timeMs: number
  #doubtedMs = 0
  #leastMs = 0
  #nowMs: number

  /** `kept`: undefined when nothing is known of the time before; then the clock is believed. */
  constructor(nowMs: number, kept?: KeptTime) {
    this.#timeMs = kept?.timeMs ?? nowMs
    this.#nowMs = nowMs
    if (kept) ({ doubtedMs: this.#doubtedMs, leastMs: this.#leastMs } = kept)
    this.update(nowMs, 0)
  }

  /** Unix milliseconds; never later than what the clock shows. */
  get ms(): number {
    return Math.min(this.#timeMs, this.#nowMs)
  }

  /** How much later the clock is than `ms`; 0 unless it is doubted. */
  get aheadMs(): number {
    return Math.max(0, this.#nowMs - this.#timeMs)
  }

  /** In which the clock will be believed, while it is doubted. */
  get remainingMs(): number {
    return confirmationMs - this.#doubtedMs
  }

  get kept(): KeptTime {
    return { timeMs: this.#timeMs, doubtedMs: this.#doubtedMs, leastMs: this.#leastMs }
  }

  /** `nowMs`: what the clock shows. `elapsedMs`: since the last call, by a clock that nobody sets. */
  update(nowMs: number, elapsedMs: number): void {
    this.#nowMs = nowMs
    this.#timeMs += elapsedMs
    const leadMs = nowMs - this.#timeMs
    if (Math.abs(leadMs) <= trustedStepMs) {
      this.#believe(nowMs)
      return
    }
    const isOtherWay = Math.sign(leadMs) !== Math.sign(this.#leastMs)
    if (isOtherWay) {
      this.#doubtedMs = 0
      this.#leastMs = leadMs
      return
    }
    this.#doubtedMs += elapsedMs
    // A clock that is set again and again, or a server that stands still each night: what all its readings agree on is
    // believed.
    if (Math.abs(leadMs) < Math.abs(this.#leastMs)) this.#leastMs = leadMs
    if (this.#doubtedMs < confirmationMs) return
    this.#timeMs += this.#leastMs
    const restMs = nowMs - this.#timeMs
    if (Math.abs(restMs) <= trustedStepMs) this.#believe(nowMs)
    else {
      this.#doubtedMs = 0
      this.#leastMs = restMs
    }
  }

  #believe(nowMs: number): void {
    this.#timeMs = nowMs
    this.#doubtedMs = 0
    this.#leastMs = 0
  }
}

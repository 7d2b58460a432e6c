// The time by which old footage is deleted: the machine's clock, as long as it advances steadily. Footage that was deleted
// because the clock was set forward cannot be restored after the clock is corrected, so a step is followed only after the
// clock has kept to it for a day. docs/design/retention.md.

/** The state that is saved for the next start. */
export type TrustedTimeState = {
  /** Unix milliseconds. */
  readonly timeMs: number
  /** How long the clock has deviated, counting only time during which the server ran. */
  readonly doubtedMs: number
  /** The smallest deviation during this time; positive if the clock is ahead. */
  readonly leastMs: number
}

/** Smaller deviations are followed immediately: a restart, or a correction. */
export const trustedStepMs = 10 * 60_000

/** A deviation that lasts this long is accepted. */
export const confirmationMs = 24 * 3_600_000

export class TrustedTime {
  #timeMs: number
  #doubtedMs = 0
  #leastMs = 0
  #nowMs: number

  /** `kept`: undefined if there is no saved state; the clock is then trusted. */
  constructor(nowMs: number, kept?: TrustedTimeState) {
    this.#timeMs = kept?.timeMs ?? nowMs
    this.#nowMs = nowMs
    if (kept) ({ doubtedMs: this.#doubtedMs, leastMs: this.#leastMs } = kept)
    this.update(nowMs, 0)
  }

  /** Unix milliseconds; never later than what the clock shows. */
  get ms(): number {
    return Math.min(this.#timeMs, this.#nowMs)
  }

  /** How far the clock is ahead of `ms`; 0 while it is trusted. */
  get aheadMs(): number {
    return Math.max(0, this.#nowMs - this.#timeMs)
  }

  /** Time until the clock is trusted again. */
  get remainingMs(): number {
    return confirmationMs - this.#doubtedMs
  }

  get kept(): TrustedTimeState {
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

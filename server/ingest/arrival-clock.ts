// The wall clock for things that arrive: never goes back, whatever the operating system does to its own.
//
// Runs on the monotonic clock and is drawn towards the system's time by at most 0.5 % of the time that passes. Only a step
// forwards of more than two seconds is followed at once: that is a clock being set, and the footage after it is to be labelled right.

import type { Clock } from '../base/clock.ts'

const maxSlew = 0.005
const stepMs = 2000

export class ArrivalClock {
  readonly #clock: Clock
  #offsetMs: number
  #lastMs: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#lastMs = clock.monotonicMs()
    this.#offsetMs = clock.nowMs() - this.#lastMs
  }

  /** Unix milliseconds with a fraction; increases with the monotonic clock. */
  nowMs(): number {
    const monotonicMs = this.#clock.monotonicMs()
    const errorMs = this.#clock.nowMs() - monotonicMs - this.#offsetMs
    const limitMs = (monotonicMs - this.#lastMs) * maxSlew
    this.#lastMs = monotonicMs
    this.#offsetMs += errorMs > stepMs ? errorMs : Math.max(-limitMs, Math.min(limitMs, errorMs))
    return monotonicMs + this.#offsetMs
  }
}

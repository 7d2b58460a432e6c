// The clock that gives every packet its time of arrival. It never goes back and never jumps, even if the operating
// system's clock does.
//
// It runs on the monotonic clock and is adjusted towards the system's time by at most 0.25 % of the time that passes.
// If the system's clock differs by more than two seconds in either direction, somebody has set it. These steps are
// summed in `setMs`. Footage after a step begins a new run, which is labeled with the new time.

import type { Clock } from '../../base/clock.ts'

/** Less than the smallest error of a camera's clock rate that is corrected (clock-rate.ts). */
const maxSlew = 0.0025
const stepMs = 2000

export class ArrivalClock {
  /**
   * The sum of all steps of the system's clock up to the last call of `nowMs`, in milliseconds. `nowMs` plus this value
   * is the time of day.
   */
  setMs = 0
  readonly #clock: Clock
  #offsetMs: number
  #lastMs: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#lastMs = clock.monotonicMs()
    this.#offsetMs = clock.nowMs() - this.#lastMs
  }

  /**
   * Unix milliseconds with a fraction, as if the system's clock had never been set. They increase with the monotonic
   * clock.
   */
  nowMs(): number {
    let monotonicMs = this.#clock.monotonicMs()
    let errorMs = this.#findErrorMs(monotonicMs)
    if (Math.abs(errorMs) > stepMs) {
      // The process may have been suspended between the reads of the two clocks. In that case a second read agrees.
      monotonicMs = this.#clock.monotonicMs()
      errorMs = this.#findErrorMs(monotonicMs)
      if (Math.abs(errorMs) > stepMs) {
        this.setMs += errorMs
        errorMs = 0
      }
    }
    const limitMs = (monotonicMs - this.#lastMs) * maxSlew
    this.#lastMs = monotonicMs
    this.#offsetMs += Math.max(-limitMs, Math.min(limitMs, errorMs))
    return monotonicMs + this.#offsetMs
  }

  #findErrorMs(monotonicMs: number): number {
    return this.#clock.nowMs() - monotonicMs - this.#offsetMs - this.setMs
  }
}

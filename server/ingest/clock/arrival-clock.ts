// The clock that stamps arrivals: it never goes back and never jumps, whatever happens to the operating system's clock.
//
// It runs on the monotonic clock and is drawn towards the system's time by at most a quarter of a percent of the time
// that passes. A step of the system's clock by more than two seconds, either way, means that somebody set it. Such
// steps are summed up in `setMs`, because what is recorded after one begins a run, which is labelled with the new time.

import type { Clock } from '../../base/clock.ts'

/** Less than the smallest error of a camera's clock rate that is corrected (clock-rate.ts). */
const maxSlew = 0.0025
const stepMs = 2000

export class ArrivalClock {
  /**
   * What must be added to `nowMs` for the time of day: all steps of the system's clock so far, in milliseconds. As of
   * the last `nowMs`.
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
   * Unix milliseconds with a fraction, as if the system's clock had never been set; increases with the monotonic clock.
   */
  nowMs(): number {
    let monotonicMs = this.#clock.monotonicMs()
    let errorMs = this.#findErrorMs(monotonicMs)
    if (Math.abs(errorMs) > stepMs) {
      // The process may have stood still between two looks at the clocks: then they agree at the next look.
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

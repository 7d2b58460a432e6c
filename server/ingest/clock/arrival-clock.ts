// The clock that gives every packet its time of arrival. It never goes back and never jumps, even if the operating
// system's clock does.
//
// It runs on the monotonic clock and is adjusted towards the system's time by at most 0.25 % of the time that passes.
// If the system's clock differs by more than two seconds in either direction, somebody has set it. These steps are
// summed in `setMs`. Footage after a step begins a new run, which is labeled with the new time.

import { type Clock, readTogether } from '../../base/clock.ts'

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
    const { nowMs, monotonicMs } = readTogether(clock)
    this.#lastMs = monotonicMs
    this.#offsetMs = nowMs - monotonicMs
  }

  /**
   * Unix milliseconds with a fraction, as if the system's clock had never been set. They increase with the monotonic
   * clock.
   */
  nowMs(): number {
    let monotonicMs = this.#clock.monotonicMs()
    let errorMs = this.#findErrorMs({ nowMs: this.#clock.nowMs(), monotonicMs })
    if (Math.abs(errorMs) > stepMs) {
      // The process may have been suspended between the reads of the two clocks.
      const times = readTogether(this.#clock)
      monotonicMs = times.monotonicMs
      errorMs = this.#findErrorMs(times)
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

  #findErrorMs({ nowMs, monotonicMs }: { readonly nowMs: number; readonly monotonicMs: number }): number {
    return nowMs - monotonicMs - this.#offsetMs - this.setMs
  }
}

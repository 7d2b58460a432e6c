// Finds out that the timestamps of a camera are no clock at all: they stand still, or pass in another unit.
//
// Rates that are wrong by less than a factor of 30 are measured (clock-rate.ts). Beyond that, the arrival of frames tells
// more than their timestamps do, so those are ignored from then on.

/** Real time per time on the camera's clock, or the reverse. */
const maxRate = 30
const windowMs = 2000
const minFrames = 4
/** A clock that was set makes one window look wrong, and a standstill two. */
const minWindows = 3
const ticksPerMs = 90

export class TimestampCheck {
  /** True once the timestamps have proven to be unusable. */
  isUnusable = false
  #beginMs = Number.NaN
  #begin90k = 0
  #most90k = 0
  #frames = 0
  #wrongWindows = 0

  /** Takes the continuous timestamp of a frame that arrived at `arrivalMs`. */
  take(timestamp90k: number, arrivalMs: number): void {
    if (this.isUnusable) return
    if (Number.isNaN(this.#beginMs)) this.#restart(timestamp90k, arrivalMs)
    this.#frames++
    this.#most90k = Math.max(this.#most90k, Math.abs(timestamp90k - this.#begin90k))
    const passedMs = arrivalMs - this.#beginMs
    if (passedMs < windowMs || this.#frames < minFrames) return
    const rate = passedMs / (this.#most90k / ticksPerMs)
    this.#wrongWindows = rate > maxRate || rate < 1 / maxRate ? this.#wrongWindows + 1 : 0
    this.isUnusable = this.#wrongWindows >= minWindows
    this.#restart(timestamp90k, arrivalMs)
  }

  #restart(timestamp90k: number, arrivalMs: number): void {
    this.#beginMs = arrivalMs
    this.#begin90k = timestamp90k
    this.#most90k = 0
    this.#frames = 0
  }
}

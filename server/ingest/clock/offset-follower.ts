// Measures how far a sender's media time is behind arrival time: the smallest delay of the last 20 to 30 seconds, which
// is approached slowly.
//
// The network only ever adds delay, so the smallest observed delay is the most accurate (a minimum filter, as in NTP
// and in WebRTC's clock recovery). A window of half a minute follows a crystal that is off by 100 ppm to within 3 ms.

const bucketMs = 10_000
const settleMs = 10_000
const slew = 0.005
/** At the start a sender may send buffered frames, which arrive late. In this case the first estimate must decrease. */
const settleSlew = 0.05
/**
 * A frame that arrives earlier than expected by more than this proves that the first ones were late, even if it was not
 * noticed at the start.
 */
const lateMs = 100
/** If the first frames were later than this, the correction is faster. */
const veryLateMs = 500
const hurriedSlew = 0.1
const maxErrorMs = 2000

export class OffsetFollower {
  #offsetMs = 0
  /** The smallest delay in the current bucket and in the two previous ones. */
  #min0 = Number.POSITIVE_INFINITY
  #min1 = Number.POSITIVE_INFINITY
  #min2 = Number.POSITIVE_INFINITY
  #bucketEndMs = 0
  #startMs = Number.NaN
  #lastMs = 0

  /** The estimate of arrival time minus media time. */
  get offsetMs(): number {
    return this.#offsetMs
  }

  /** True when the estimate is so far off that it cannot be corrected slowly. */
  get isOff(): boolean {
    return Math.abs(this.#targetMs() - this.#offsetMs) > maxErrorMs
  }

  /** Media time since the first frame, in milliseconds. */
  get ageMs(): number {
    return this.#lastMs - this.#startMs
  }

  /**
   * Forgets earlier delays after a time in which nobody could measure any: what the camera's clock did meanwhile shows in
   * the delays that follow.
   */
  forgetDelays(): void {
    this.#min0 = this.#min1 = this.#min2 = Number.POSITIVE_INFINITY
  }

  /** Sets the offset after media time has passed at a wrong rate. Earlier delays say nothing about the new offset. */
  moveTo(offsetMs: number): void {
    this.#offsetMs = offsetMs
    this.#min0 = this.#min1 = this.#min2 = offsetMs
  }

  /**
   * Takes a frame or block of media time `mediaMs` that arrived at `arrivalMs`. `isFast`: follow faster than a good
   * clock needs. Returns `offsetMs`.
   */
  update(mediaMs: number, arrivalMs: number, isFast = false): number {
    const delayMs = arrivalMs - mediaMs
    if (Number.isNaN(this.#startMs)) {
      this.#offsetMs = delayMs
      this.#startMs = mediaMs
      this.#lastMs = mediaMs
      this.#bucketEndMs = arrivalMs + bucketMs
    }
    if (arrivalMs >= this.#bucketEndMs) {
      this.#bucketEndMs = arrivalMs + bucketMs
      this.#min2 = this.#min1
      this.#min1 = this.#min0
      this.#min0 = delayMs
    } else if (delayMs < this.#min0) {
      this.#min0 = delayMs
    }
    const errorMs = this.#targetMs() - this.#offsetMs
    const isSettling = errorMs < 0 && (mediaMs - this.#startMs < settleMs || errorMs < -lateMs)
    const rate = errorMs < -veryLateMs ? hurriedSlew : isFast || isSettling ? settleSlew : slew
    const limitMs = Math.max(0, mediaMs - this.#lastMs) * rate
    this.#lastMs = Math.max(this.#lastMs, mediaMs)
    this.#offsetMs += Math.max(-limitMs, Math.min(limitMs, errorMs))
    return this.#offsetMs
  }

  #targetMs(): number {
    return Math.min(this.#min0, this.#min1, this.#min2)
  }
}

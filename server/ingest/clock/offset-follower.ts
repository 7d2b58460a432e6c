// How far a sender's media time is behind arrival time: the smallest delay of the last 20 to 30 seconds, approached
// slowly.
//
// The network only ever adds delay, so the smallest one seen is the nearest to the truth (a minimum filter, as in NTP
// and as in WebRTC's clock recovery), and a window of half a minute follows a crystal that is wrong by 100 ppm to
// within 3 ms.

const bucketMs = 10_000
const settleMs = 10_000
const slew = 0.005
/**
 * At the start a sender may hand out what it had buffered: those frames come late, and the first guess must come down.
 */
const settleSlew = 0.05
/**
 * A picture that comes earlier than expected by more than this shows that the first ones were late, even if that was
 * not seen at the start.
 */
const lateMs = 100
/** When the first pictures were later than this, the correction is faster. */
const veryLateMs = 500
const hurriedSlew = 0.1
const maxErrorMs = 2000

export class OffsetFollower {
  #offsetMs = 0
  /** Smallest delay in the bucket in progress and in the two before. */
  #min0 = Number.POSITIVE_INFINITY
  #min1 = Number.POSITIVE_INFINITY
  #min2 = Number.POSITIVE_INFINITY
  #bucketEndMs = 0
  #startMs = Number.NaN
  #lastMs = 0

  /** Arrival time minus media time, as far as it is believed. */
  get offsetMs(): number {
    return this.#offsetMs
  }

  /** True when the belief is so far off that following slowly makes no sense. */
  get isOff(): boolean {
    return Math.abs(this.#targetMs() - this.#offsetMs) > maxErrorMs
  }

  /** Media time since the first one, in milliseconds. */
  get ageMs(): number {
    return this.#lastMs - this.#startMs
  }

  /** The offset was wrong because media time passed at a wrong rate; earlier delays no longer say anything about it. */
  moveTo(offsetMs: number): void {
    this.#offsetMs = offsetMs
    this.#min0 = this.#min1 = this.#min2 = offsetMs
  }

  /**
   * One thing of media time `mediaMs` arrived at `arrivalMs`. `isFast`: follow faster than a good clock needs. Gives
   * `offsetMs`.
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

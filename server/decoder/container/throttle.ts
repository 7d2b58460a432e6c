// Limits how far a stream may run ahead of the clock. A file that is served at network speed is thereby read at
// playback speed.

/** Frames that a live source has buffered and sends at connect time are not delayed. */
const maxAheadMs = 10_000

/**
 * The rate at which a past lag is forgotten. It exceeds the error of any clock crystal, so a live source is never
 * delayed permanently.
 */
const forgetRate = 0.001

export class Throttle {
  /** Clock time minus media time of a stream that is on time. */
  #offsetMs = Number.NEGATIVE_INFINITY
  #lastMs = Number.NaN

  /** How long to delay a packet with this media time. `nowMs` is the monotonic clock. */
  delayMs(mediaMs: number, nowMs: number): number {
    // A jump in media time begins a new time axis.
    if (!(Math.abs(mediaMs - this.#lastMs) < maxAheadMs)) this.#offsetMs = Number.NEGATIVE_INFINITY
    const passedMs = Math.max(0, mediaMs - this.#lastMs) || 0
    this.#lastMs = mediaMs
    // A stream that falls behind may stay there.
    this.#offsetMs = Math.max(this.#offsetMs - passedMs * forgetRate, nowMs - mediaMs)
    return Math.max(0, mediaMs + this.#offsetMs - nowMs - maxAheadMs)
  }
}

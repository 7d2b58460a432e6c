// Lets a stream run ahead of the clock by so much and no more: a file that is served as fast as the network goes becomes one that plays.

/** What a live source hands out of what it has kept passes at once. */
const maxAheadMs = 10_000

/** How fast it is forgotten that the stream was behind: more than any crystal is wrong, so that no live source is ever held back for good. */
const forgetRate = 0.001

export class Throttle {
  /** Clock minus media time at which the stream is on time. */
  #offsetMs = Number.NEGATIVE_INFINITY
  #lastMs = Number.NaN

  /** How long to wait with what is due at `mediaMs`, now being `nowMs` (monotonic). */
  delayMs(mediaMs: number, nowMs: number): number {
    // A jump is another axis, not a place far ahead.
    if (!(Math.abs(mediaMs - this.#lastMs) < maxAheadMs)) this.#offsetMs = Number.NEGATIVE_INFINITY
    const passedMs = Math.max(0, mediaMs - this.#lastMs) || 0
    this.#lastMs = mediaMs
    // A stream that falls behind may stay there.
    this.#offsetMs = Math.max(this.#offsetMs - passedMs * forgetRate, nowMs - mediaMs)
    return Math.max(0, mediaMs + this.#offsetMs - nowMs - maxAheadMs)
  }
}

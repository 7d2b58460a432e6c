// Lets a stream run ahead of the clock by so much and no more: a file that is served as fast as the network goes becomes one that plays.

/** What a live source hands out of what it has kept passes at once. */
const maxAheadMs = 10_000

export class Pace {
  /** Clock minus media time at which the stream was last on time. */
  #offsetMs = Number.NEGATIVE_INFINITY
  #lastMs = Number.NaN

  /** How long to wait with what is due at `mediaMs`, now being `nowMs` (monotonic). */
  delayMs(mediaMs: number, nowMs: number): number {
    // A jump is another axis, not a place far ahead.
    if (!(Math.abs(mediaMs - this.#lastMs) < maxAheadMs)) this.#offsetMs = Number.NEGATIVE_INFINITY
    this.#lastMs = mediaMs
    // A stream that falls behind stays there: what it is ahead of is where it is now.
    this.#offsetMs = Math.max(this.#offsetMs, nowMs - mediaMs)
    return Math.max(0, mediaMs + this.#offsetMs - nowMs - maxAheadMs)
  }
}

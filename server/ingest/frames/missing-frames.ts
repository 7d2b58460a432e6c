// Estimates how many whole frames are missing where packets were lost. The only trace of them is the time that they
// would have filled.

/** The average interval is known after this many frames. */
const minKnown = 8
const averagedOver = 16
/** A longer time, in 90 kHz ticks, is a jump of the camera's clock. */
const longest90k = 10 * 90_000

export class MissingFrames {
  #last90k = Number.NaN
  #newest90k = Number.NaN
  /** The average increase of the newest timestamp per frame. It also works for frames that are sent out of order. */
  #usual90k = 0
  #known = 0

  /**
   * Takes the continuous timestamp of a packet. `isAfterLoss`: packets are missing before it. Returns how many frames
   * are missing there.
   */
  take(timestamp90k: number, isAfterLoss: boolean): number {
    if (timestamp90k === this.#last90k) return 0
    this.#last90k = timestamp90k
    const step90k = timestamp90k - this.#newest90k
    if (!(step90k <= 0)) this.#newest90k = timestamp90k
    if (Number.isNaN(step90k) || step90k > longest90k) return 0
    if (isAfterLoss) return this.#known < minKnown ? 0 : Math.max(0, Math.round(step90k / this.#usual90k) - 1)
    this.#known++
    this.#usual90k += (Math.max(0, step90k) - this.#usual90k) / Math.min(this.#known, averagedOver)
    return 0
  }
}

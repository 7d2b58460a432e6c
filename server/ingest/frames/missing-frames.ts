// How many whole pictures are missing where packets were lost. Nothing is left of them but the time that they would
// have filled.

/** Of so many pictures the usual distance is known. */
const minKnown = 8
const averagedOver = 16
/** A longer time, in ticks of 90 kHz, is a jump of the camera's clock. */
const longest90k = 10 * 90_000

export class MissingFrames {
  #last90k = Number.NaN
  #newest90k = Number.NaN
  /**
   * How much later the newest timestamp becomes with each picture, on average: of pictures that are sent out of order,
   * too.
   */
  #usual90k = 0
  #known = 0

  /**
   * Takes the timestamp of a packet, continuous; `isAfterLoss`: packets are missing before it. Returns how many
   * pictures are missing there.
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

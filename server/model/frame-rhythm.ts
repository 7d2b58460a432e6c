// How far apart a camera's pictures usually are, and which distance is a hole: learned from the pictures themselves, since a camera with one
// picture each five seconds is as healthy as one with sixty a second. Times in ticks of 90 kHz.

/** 'loss': pictures were lost. 'pause': none came, from a camera that is steady otherwise. */
export type Hole = 'loss' | 'pause'

/** Shorter times without a picture are no hole. */
export const minHole90k = 90_000

/** Until something is known. */
const firstUsual90k = 3600
/** Pictures that must have come before a pause is one. */
const minKnown = 50
/** A pause is longer than so many usual intervals, */
const pauseIntervals = 4
/** and than the longest interval of the last minutes by so much: cameras that send fewer pictures of a scene that stands still do so again. */
const overLongest = 1.5
const longestMemory90k = 600 * 90_000
/** Mean deviation of the intervals, as a part of the usual one, of a camera that is steady. */
const maxDeviation = 0.5

export class FrameRhythm {
  #usual90k = firstUsual90k
  #deviation90k = 0
  #longest90k = 0
  #known = 0

  /** The usual distance of two pictures. */
  get usual90k(): number {
    return this.#usual90k
  }

  /** Takes the distance of a picture from the one before; `isAfterLoss`: pictures between them were lost. */
  take(interval90k: number, isAfterLoss: boolean): Hole | undefined {
    // What was lost says nothing about how often the camera sends.
    if (isAfterLoss) return interval90k - this.#usual90k > minHole90k ? 'loss' : undefined
    const isPause = this.#isPause(interval90k)
    this.#learn(interval90k)
    return isPause ? 'pause' : undefined
  }

  #isPause(interval90k: number): boolean {
    return (
      interval90k > minHole90k &&
      this.#known >= minKnown &&
      interval90k > pauseIntervals * this.#usual90k &&
      interval90k > overLongest * this.#longest90k &&
      this.#deviation90k <= maxDeviation * this.#usual90k
    )
  }

  #learn(interval90k: number): void {
    if (this.#known++ === 0) this.#usual90k = interval90k
    // A single long interval moves the average by little, many of them do.
    const bounded90k = Math.min(interval90k, 2 * this.#usual90k)
    const error90k = bounded90k - this.#usual90k
    this.#usual90k += error90k / 8
    this.#deviation90k += (Math.abs(error90k) - this.#deviation90k) / 32
    const decayed90k = this.#longest90k * (1 - Math.min(1, interval90k / longestMemory90k))
    this.#longest90k = Math.max(interval90k, decayed90k)
  }
}

// The usual interval between a camera's pictures, and which interval is a hole. This is learned from the pictures
// themselves, since a camera with one picture every five seconds is as healthy as one with sixty a second. Times in
// ticks of 90 kHz.

/** 'loss': pictures were lost. 'pause': none came, from a camera that is steady otherwise. */
export type Hole = 'loss' | 'pause'

/** Shorter times without a picture are no hole. */
export const minHole90k = 90_000

/** Until something is known. */
const firstUsual90k = 3600
/** A pause is recognized only after this many pictures. */
const minKnown = 50
/** A pause is longer than this many usual intervals, */
const pauseIntervals = 4
/**
 * and than this many times the longest interval of the last minutes: cameras that send fewer pictures of a still scene
 * do so again and again.
 */
const overLongest = 1.5
const longestMemory90k = 600 * 90_000
/** Mean deviation of the intervals, as a part of the usual one, of a camera that is steady. */
const maxDeviation = 0.5

export class FrameRhythm {
  #usual90k = firstUsual90k
  #deviation90k = 0
  #longest90k = 0
  #known = 0

  /** The usual interval between two pictures. */
  get usual90k(): number {
    return this.#usual90k
  }

  /** Takes the interval between a picture and the one before; `isAfterLoss`: pictures between them were lost. */
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

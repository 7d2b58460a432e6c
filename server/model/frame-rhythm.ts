// Learns the usual interval between a camera's frames and decides which interval is a hole. It is learned from the
// frames, because a camera with one frame every five seconds is as healthy as one with sixty per second. Times in
// 90 kHz ticks.

/** 'loss': frames were lost. 'pause': none arrived, from an otherwise steady camera. */
export type Hole = 'loss' | 'pause'

/** Shorter intervals are never holes. */
export const minHole90k = 90_000

/** Used until the interval is known. */
const firstUsual90k = 3600
/** A pause is recognized only after this many frames. */
const minKnown = 50
/** A pause is longer than this many usual intervals, */
const pauseIntervals = 4
/**
 * and than this many times the longest interval of the last minutes: cameras that send fewer frames of a static scene
 * do so repeatedly.
 */
const overLongest = 1.5
const longestMemory90k = 600 * 90_000
/** Mean deviation of the intervals of a steady camera, relative to the usual interval. */
const maxDeviation = 0.5

export class FrameRhythm {
  #usual90k = firstUsual90k
  #deviation90k = 0
  #longest90k = 0
  #known = 0

  /** The usual interval between two frames. */
  get usual90k(): number {
    return this.#usual90k
  }

  /** Takes the interval between a frame and the previous one; `isAfterLoss`: frames between them were lost. */
  take(interval90k: number, isAfterLoss: boolean): Hole | undefined {
    // Losses say nothing about how often the camera sends.
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
    // A single long interval changes the average little; many change it.
    const bounded90k = Math.min(interval90k, 2 * this.#usual90k)
    const error90k = bounded90k - this.#usual90k
    this.#usual90k += error90k / 8
    this.#deviation90k += (Math.abs(error90k) - this.#deviation90k) / 32
    const decayed90k = this.#longest90k * (1 - Math.min(1, interval90k / longestMemory90k))
    this.#longest90k = Math.max(interval90k, decayed90k)
  }
}

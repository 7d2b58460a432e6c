// Decode times of the video frames of a run, for formats that send each frame before the next one is known.

/**
 * Added to all times of live MP4, 90 kHz, because the axis of a run may begin slightly below zero if frames are
 * reordered.
 */
export const origin90k = 90_000

/** Of the first frame: long, because a frame that ends before the next one begins is a hole to Media Source. */
const firstGuess90k = 9000
const remembered90k = 2 * 90_000

export class VideoTimes {
  /** The distances between the frames of the last seconds. */
  readonly #distances: { readonly time: number; readonly distance: number }[] = []
  #last: number | undefined

  /** The decode time of the next frame, 90 kHz: at least 0 and greater than that of the frame before. */
  next(dts90k: number): number {
    let time = Math.max(0, Math.round(dts90k) + origin90k)
    if (this.#last !== undefined) {
      time = Math.max(time, this.#last + 1)
      const distance = time - this.#last
      // A hole (lost frames or a stalled camera) does not indicate the duration of the next frame.
      if (distance < 90_000) this.#distances.push({ time, distance })
      while (this.#distances.length > 1 && this.#distances[0]!.time < time - remembered90k) this.#distances.shift()
    }
    this.#last = time
    return time
  }

  /** The estimated duration of the newest frame: the longest of the last two seconds. */
  get duration(): number {
    if (this.#distances.length === 0) return firstGuess90k
    let longest = 0
    for (const { distance } of this.#distances) longest = Math.max(longest, distance)
    return longest
  }
}

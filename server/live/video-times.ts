// Decode times of the video frames of a run, for formats that send each frame before the next one is known.

/**
 * Added to all times of live MP4, 90 kHz, because the axis of a run may begin slightly below zero if frames are
 * reordered.
 */
export const origin90k = 90_000

export class VideoTimes {
  #duration = 3600
  #last: number | undefined

  /** The decode time of the next frame, 90 kHz: at least 0 and greater than that of the frame before. */
  next(dts90k: number): number {
    let time = Math.max(0, Math.round(dts90k) + origin90k)
    if (this.#last !== undefined) {
      time = Math.max(time, this.#last + 1)
      const distance = time - this.#last
      // A hole (lost frames or a stalled camera) does not indicate the duration of the next frame.
      if (distance < 90_000) this.#duration = distance
    }
    this.#last = time
    return time
  }

  /** The estimated duration of the newest frame: that of the previous one. */
  get duration(): number {
    return this.#duration
  }
}

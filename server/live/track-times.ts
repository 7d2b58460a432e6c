// Converts the 90 kHz timestamps of frames to decode times in the timescale of their track.

import type { AudioFormat } from '../media/frame.ts'

/** Added to all times, because the axis of a run may begin slightly below zero if frames are reordered. */
const origin90k = 90_000

export type TrackTimesOptions = {
  /** Ticks per second. */
  readonly timescale: number
  /** The duration assumed until two frames have arrived, in ticks. */
  readonly firstDuration: number
  /** A frame this close to the end of the previous one follows it exactly. This undoes the rounding to 90 kHz. */
  readonly snapTicks: number
}

export class TrackTimes {
  readonly #timescale: number
  readonly #snapTicks: number
  #duration: number
  #last: number | undefined

  constructor({ timescale, firstDuration, snapTicks }: TrackTimesOptions) {
    this.#timescale = timescale
    this.#duration = firstDuration
    this.#snapTicks = snapTicks
  }

  /** The decode time of the next frame: at least 0 and greater than that of the frame before. */
  next(dts90k: number): number {
    let time = Math.max(0, Math.round(((dts90k + origin90k) * this.#timescale) / 90_000))
    if (this.#last !== undefined) {
      const expected = this.#last + this.#duration
      if (Math.abs(time - expected) <= this.#snapTicks) time = expected
      else time = Math.max(time, this.#last + 1)
      const distance = time - this.#last
      // A hole (lost frames or a stalled camera) does not indicate the duration of the next frame.
      if (distance < this.#timescale) this.#duration = distance
    }
    this.#last = time
    return time
  }

  /** The estimated duration of the newest frame: that of the previous one. */
  get duration(): number {
    return this.#duration
  }
}

export function createVideoTimes(): TrackTimes {
  return new TrackTimes({ timescale: 90_000, firstDuration: 3600, snapTicks: 0 })
}

export function createAudioTimes({ codec, sampleRate }: AudioFormat): TrackTimes {
  // The usual length of a block; another is learned from the first two.
  return new TrackTimes({ timescale: sampleRate, firstDuration: codec === 'opus' ? 960 : 1024, snapTicks: 4 })
}

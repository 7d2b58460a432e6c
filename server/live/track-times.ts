// Decode times of one track in its own timescale, from the 90 kHz times of its frames.

import type { AudioFormat } from '../media/frame.ts'

/** Added to all times: the axis of a run may begin a little below zero where pictures are reordered. */
const origin90k = 90_000

export type TrackTimesOptions = {
  /** Ticks per second. */
  readonly timescale: number
  /** Assumed until two frames were seen, in ticks. */
  readonly firstDuration: number
  /** A frame this close to the end of the one before follows it exactly; takes back the rounding to 90 kHz. */
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
      // A hole (lost frames, a stalled camera) says nothing about how long the next frame lasts.
      if (distance < this.#timescale) this.#duration = distance
    }
    this.#last = time
    return time
  }

  /** How long the newest frame probably lasts: as long as the one before. */
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

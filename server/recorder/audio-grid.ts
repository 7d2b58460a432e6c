// Puts audio blocks on the grid of their own sample rate. Times in 90 kHz ticks are rounded (1024 samples at 44.1 kHz
// are 2089.8 ticks); summed up as they are, audio would drift or be full of tiny holes.

import type { AudioFormat } from '../media/frame.ts'
import { scaleTicks } from '../media/mp4/timescale.ts'
import { createBlockLength } from '../media/telephony/audio-block.ts'

/** The block's own time may differ from the grid by this much before the grid gives way. */
const toleranceSeconds = 1 / 16

/** Positions and lengths in samples, the position since the run's axis began. */
export type PlacedBlock = { readonly position: number; readonly samples: number }

export class AudioGrid {
  readonly #sampleRate: number
  readonly #samplesOf: (data: Uint8Array) => number
  #next: number | undefined

  constructor(format: AudioFormat) {
    this.#sampleRate = format.sampleRate
    this.#samplesOf = createBlockLength(format)
  }

  /** Where the track ends so far, in samples; undefined before the first block. */
  get end(): number | undefined {
    return this.#next
  }

  /**
   * Where the block with this presentation time is: it follows the block before it unless blocks are missing, which
   * leaves a hole of whole blocks. Undefined when the block is too much: drop it.
   */
  place(pts90k: number, data: Uint8Array): PlacedBlock | undefined {
    const samples = this.#samplesOf(data)
    const tolerance = Math.max(samples, this.#sampleRate * toleranceSeconds)
    const wanted = scaleTicks(pts90k, this.#sampleRate)
    let position = this.#next ?? wanted
    const error = wanted - position
    if (error <= -tolerance) return undefined
    if (error >= tolerance) position += Math.round(error / samples) * samples
    this.#next = position + samples
    return { position, samples }
  }
}

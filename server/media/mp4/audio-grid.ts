// Aligns audio blocks with the sample positions of their own sample rate. Times in 90 kHz ticks are rounded (1024
// samples at 44.1 kHz are 2089.8 ticks), so summing them up would lead to drift or many tiny holes.

import type { AudioFormat } from '../frame.ts'
import { createBlockLength } from '../telephony/audio-block.ts'
import { scaleTicks } from './timescale.ts'

/** The time of a block may differ from its position by this much before the position is changed. */
const toleranceSeconds = 1 / 16

/** Positions and lengths in samples. Positions count from the beginning of the run's axis. */
export type PlacedBlock = { readonly position: number; readonly samples: number }

export class AudioGrid {
  readonly #sampleRate: number
  readonly #samplesOf: (data: Uint8Array) => number
  #next: number | undefined

  constructor(format: AudioFormat) {
    this.#sampleRate = format.sampleRate
    this.#samplesOf = createBlockLength(format)
  }

  /** The current end of the track in samples; undefined before the first block. */
  get end(): number | undefined {
    return this.#next
  }

  /**
   * Returns the position of the block with this presentation time. It follows the previous block unless blocks are
   * missing, which leaves a hole of whole blocks. Undefined if the block is superfluous and must be dropped.
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

// Puts audio blocks on the grid of their own sample rate. Times in 90 kHz ticks are rounded (1024 samples at 44.1 kHz are 2089.8
// ticks); summed up as they are, sound would drift or be full of tiny holes.

import type { AudioFormat } from '../media/frame.ts'
import { scaleTicks } from '../media/mp4/timescale.ts'

/** Samples per AAC block (ISO/IEC 14496-3 4.5.1.1): twice as many when the rate is that of spectral band replication. */
const coreBlockSamples = 1024

/** The block's own time may differ from the grid by this much before the grid gives way. */
const toleranceSeconds = 1 / 16

export class AudioGrid {
  readonly blockSamples: number
  readonly #sampleRate: number
  readonly #tolerance: number
  #next: number | undefined

  constructor({ sampleRate, config }: AudioFormat) {
    this.#sampleRate = sampleRate
    this.blockSamples = coreBlockSamples * (isHalfRate(config, sampleRate) ? 2 : 1)
    this.#tolerance = Math.max(this.blockSamples, sampleRate * toleranceSeconds)
  }

  /**
   * Position of the block with this presentation time, in samples since the run's axis began; it follows the block before it
   * unless blocks are missing, which leaves a hole of whole blocks. Undefined when the block is too much: drop it.
   */
  place(pts90k: number): number | undefined {
    const wanted = scaleTicks(pts90k, this.#sampleRate)
    let position = this.#next ?? wanted
    const error = wanted - position
    if (error <= -this.#tolerance) return undefined
    if (error >= this.#tolerance) position += Math.round(error / this.blockSamples) * this.blockSamples
    this.#next = position + this.blockSamples
    return position
  }
}

const coreRates = [96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350]

/** True when the AudioSpecificConfig's core rate is half the rate of the track. */
function isHalfRate(config: Uint8Array, sampleRate: number): boolean {
  const index = (((config[0] ?? 0) & 0x07) << 1) | ((config[1] ?? 0) >> 7)
  return coreRates[index] === sampleRate / 2
}

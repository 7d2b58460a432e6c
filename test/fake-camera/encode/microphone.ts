// The camera's audio: beeps made and encoded block by block.

import type { TelephoneCoding } from '../../../server/media/telephony/telephone-coding.ts'
import { AacEncoder, type BlockEncoder } from './audio-encoder.ts'
import { createBeeps } from './beep.ts'
import { TelephoneEncoder } from './telephone-encoder.ts'

export type AudioKind = 'aac' | TelephoneCoding

/** A block and the time it begins, in seconds of the stream. */
export type AudioBlock = { readonly data: Uint8Array; readonly seconds: number }

export class Microphone implements Disposable {
  readonly #encoder: BlockEncoder
  /** Stream time of the first sample. */
  #originSeconds = 0
  #sampleCount = 0

  private constructor(encoder: BlockEncoder) {
    this.#encoder = encoder
  }

  static async open(kind: AudioKind): Promise<Microphone> {
    return new Microphone(kind === 'aac' ? await AacEncoder.open(16_000, 32_000) : new TelephoneEncoder(kind))
  }

  get sampleRate(): number {
    return this.#encoder.sampleRate
  }

  /** AudioSpecificConfig of AAC. */
  get config(): Uint8Array {
    return this.#encoder.config
  }

  /** Goes on at this stream time, after a pause. */
  restart(seconds: number): void {
    this.#originSeconds = seconds - this.#sampleCount / this.sampleRate
  }

  /** The blocks up to the stream time `seconds`, at which the wall clock shows `unixMs`. */
  record(seconds: number, unixMs: number): AudioBlock[] {
    const blocks: AudioBlock[] = []
    const { sampleRate, samplesPerBlock } = this.#encoder
    for (;;) {
      const from = this.#originSeconds + this.#sampleCount / sampleRate
      if (from + samplesPerBlock / sampleRate > seconds) return blocks
      const block = this.#encoder.encode(createBeeps(unixMs - (seconds - from) * 1000, samplesPerBlock, sampleRate))
      this.#sampleCount += samplesPerBlock
      if (block) blocks.push({ data: block.data, seconds: this.#originSeconds + block.firstSample / sampleRate })
    }
  }

  [Symbol.dispose](): void {
    this.#encoder[Symbol.dispose]()
  }
}

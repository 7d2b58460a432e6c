// The camera's sound: beeps made and encoded block by block.

import { AudioEncoder, samplesPerBlock } from './audio-encoder.ts'
import { createBeeps } from './beep.ts'

export const soundSampleRate = 16_000

/** A block and the time it begins, in seconds of the stream. */
export type SoundBlock = { readonly data: Uint8Array; readonly seconds: number }

export class Microphone implements Disposable {
  readonly #encoder: AudioEncoder
  /** Stream time of the first sample. */
  #originSeconds = 0
  #sampleCount = 0

  private constructor(encoder: AudioEncoder) {
    this.#encoder = encoder
  }

  static async open(): Promise<Microphone> {
    return new Microphone(await AudioEncoder.open(soundSampleRate, 32_000))
  }

  /** AudioSpecificConfig. */
  get config(): Uint8Array {
    return this.#encoder.config
  }

  /** Goes on at this stream time, after a pause. */
  restart(seconds: number): void {
    this.#originSeconds = seconds - this.#sampleCount / soundSampleRate
  }

  /** The blocks up to the stream time `seconds`, at which the wall clock shows `unixMs`. */
  record(seconds: number, unixMs: number): SoundBlock[] {
    const blocks: SoundBlock[] = []
    for (;;) {
      const from = this.#originSeconds + this.#sampleCount / soundSampleRate
      if (from + samplesPerBlock / soundSampleRate > seconds) return blocks
      const block = this.#encoder.encode(
        createBeeps(unixMs - (seconds - from) * 1000, samplesPerBlock, soundSampleRate),
      )
      this.#sampleCount += samplesPerBlock
      if (block) blocks.push({ data: block.data, seconds: this.#originSeconds + block.firstSample / soundSampleRate })
    }
  }

  [Symbol.dispose](): void {
    this.#encoder[Symbol.dispose]()
  }
}

// Splits the payloads of telephone audio into chunks of as many samples as become one AAC block, each with its start
// time. Lost audio is replaced by silence, so that audio and time stay in sync.

import { type AudioSource, chunkSamples } from './audio-transcoder.ts'
import { bitsPerSample, silenceByte } from './telephone-coding.ts'

/** Payloads whose times differ by less than this are continuous. */
const tolerance90k = 900
/** A longer gap is not filled. */
const maxSilence90k = 2 * 90_000
/** Codes of 2 to 5 bits fill whole bytes in groups of this many samples. */
const groupSamples = 8

export class AudioChunker {
  readonly #onChunk: (chunk: Uint8Array, start90k: number) => void
  readonly #sampleRate: number
  readonly #bits: number
  readonly #silence: number
  readonly #chunkBytes: number
  #chunk: Uint8Array
  #chunkAt = 0
  #start90k = 0
  /** Where the last payload ended; undefined at the start. */
  #end90k: number | undefined

  /** The receiver owns the chunks. */
  constructor(source: AudioSource, onChunk: (chunk: Uint8Array, start90k: number) => void) {
    this.#onChunk = onChunk
    this.#sampleRate = source.sampleRate
    this.#bits = bitsPerSample(source.coding)
    this.#silence = silenceByte(source.coding)
    this.#chunkBytes = (chunkSamples(source) * this.#bits) / 8
    this.#chunk = new Uint8Array(this.#chunkBytes)
  }

  /** Takes the payload `bytes[start, end)`, whose audio starts at `pts90k`. */
  push(bytes: Uint8Array, start: number, end: number, pts90k: number): void {
    const gap90k = this.#end90k === undefined ? 0 : pts90k - this.#end90k
    if (gap90k > maxSilence90k || gap90k < -tolerance90k) this.restart()
    else if (gap90k > tolerance90k) this.#fill(this.#end90k!, this.#bytesOf(gap90k))
    let at90k = pts90k
    for (let at = start; at < end; ) {
      const count = Math.min(end - at, this.#chunkBytes - this.#chunkAt)
      this.#append(bytes.subarray(at, at + count), at90k)
      at += count
      at90k += this.#lengthOf(count)
    }
    this.#end90k = at90k
  }

  /** Starts over, because the next payload does not continue the last one. The open chunk is filled with silence. */
  restart(): void {
    if (this.#chunkAt > 0) this.#fill(this.#start90k, this.#chunkBytes - this.#chunkAt)
    this.#end90k = undefined
  }

  #fill(start90k: number, count: number): void {
    let at90k = start90k
    for (let left = count; left > 0; ) {
      const part = Math.min(left, this.#chunkBytes - this.#chunkAt)
      this.#append(new Uint8Array(part).fill(this.#silence), at90k)
      left -= part
      at90k += this.#lengthOf(part)
    }
  }

  #append(bytes: Uint8Array, start90k: number): void {
    if (this.#chunkAt === 0) this.#start90k = Math.round(start90k)
    this.#chunk.set(bytes, this.#chunkAt)
    this.#chunkAt += bytes.length
    if (this.#chunkAt < this.#chunkBytes) return
    const chunk = this.#chunk
    this.#chunk = new Uint8Array(this.#chunkBytes)
    this.#chunkAt = 0
    this.#onChunk(chunk, this.#start90k)
  }

  #lengthOf(bytes: number): number {
    return (bytes * 8 * 90_000) / this.#bits / this.#sampleRate
  }

  #bytesOf(length90k: number): number {
    const samples = (length90k * this.#sampleRate) / 90_000
    return (Math.round(samples / groupSamples) * groupSamples * this.#bits) / 8
  }
}

// The parameter sets of a stream as they are now: from the SDP or in the stream, changing in its middle. Says when they changed,
// and makes the decoder configuration of them.

import type { VideoFormat } from '../frame.ts'
import { avcCodecString, writeAvcConfig } from './avc-config.ts'
import { BitReader } from './bit-reader.ts'
import { nalType, nalTypeOf } from './nal-unit.ts'
import { parseSps } from './sps.ts'

/** More than any encoder uses; a stream that sends more is broken and must not fill the memory. */
const maxPictureSets = 32

export class ParameterSets {
  #sps: Uint8Array | undefined
  readonly #pps = new Map<number, Uint8Array>()
  #hasChanged = false

  /**
   * Takes the SPS or PPS `bytes[start, end)` (with NAL header), copied when it is new; other NAL units are ignored.
   * @throws AppError 'corrupt' when its id can't be read
   */
  take(bytes: Uint8Array, start: number, end: number): void {
    const type = nalTypeOf(bytes[start]!)
    if (type === nalType.sps && !isSame(this.#sps, bytes, start, end)) {
      this.#sps = bytes.slice(start, end)
      // Picture sets refer to the sequence set they came with; those of the new one follow it.
      this.#pps.clear()
      this.#hasChanged = true
    }
    if (type === nalType.pps) {
      const id = new BitReader(bytes.subarray(start + 1, Math.min(end, start + 16))).unsigned()
      if (isSame(this.#pps.get(id), bytes, start, end)) return
      if (this.#pps.size >= maxPictureSets) this.#pps.clear()
      this.#pps.set(id, bytes.slice(start, end))
      this.#hasChanged = true
    }
  }

  /** True once both kinds are known. */
  get isComplete(): boolean {
    return this.#sps !== undefined && this.#pps.size > 0
  }

  /** The format if it changed since the last call, else undefined. @throws AppError 'corrupt' when the SPS can't be read */
  takeChange(): VideoFormat | undefined {
    if (!this.#hasChanged || !this.#sps || this.#pps.size === 0) return undefined
    const { width, height } = parseSps(this.#sps)
    const config = writeAvcConfig({ sps: [this.#sps], pps: [...this.#pps.values()] })
    this.#hasChanged = false
    return { codec: 'h264', width, height, config, codecString: avcCodecString(this.#sps) }
  }
}

function isSame(known: Uint8Array | undefined, bytes: Uint8Array, start: number, end: number): boolean {
  if (!known || known.length !== end - start) return false
  for (let i = 0; i < known.length; i++) if (known[i] !== bytes[start + i]) return false
  return true
}

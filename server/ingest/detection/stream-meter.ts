// Measures a stream in its first seconds: frames and bits per second, and the interval between key frames.

import type { HubItem } from '../../hub/hub-item.ts'
import type { Frame, StreamFormat } from '../../media/frame.ts'
import { KeyFrameCollector } from '../../media/nal/key-frame.ts'

export type KeyFrame = { readonly format: StreamFormat; readonly data: Uint8Array }

/** A value is undefined if too few frames have arrived. */
export type StreamRates = {
  readonly framesPerSecond: number | undefined
  readonly bitsPerSecond: number | undefined
  readonly keyFrameSeconds: number | undefined
}

/**
 * A shorter span is not meaningful, because cameras begin with a key frame, and many first send what they have
 * buffered.
 */
const minSpan90k = 45_000

type Mark = { readonly at90k: number; readonly bytesBefore: number }

export class StreamMeter {
  #format: StreamFormat | undefined
  #collector: KeyFrameCollector | undefined
  #keyFrame: KeyFrame | undefined
  #first: Mark | undefined
  #last: Mark | undefined
  #firstKey: Mark | undefined
  #lastKey: Mark | undefined
  #frames = 0
  #keys = 0
  #bytes = 0

  /** The number of key frames in the current run. */
  get keys(): number {
    return this.#keys
  }

  /** The newest key frame. */
  get keyFrame(): KeyFrame | undefined {
    return this.#keyFrame
  }

  /** The time from the first to the last frame of the current run. */
  get spanMs(): number {
    return span90k(this.#first, this.#last) / 90
  }

  take(item: HubItem): void {
    if (item.kind === 'start') this.#begin(item.format)
    else if (item.kind === 'video') this.#takeFrame(item)
  }

  rates(): StreamRates {
    const all90k = span90k(this.#first, this.#last)
    const keys90k = span90k(this.#firstKey, this.#lastKey)
    const [from, to] = keys90k >= minSpan90k ? [this.#firstKey!, this.#lastKey!] : [this.#first, this.#last]
    const isLong = all90k >= minSpan90k
    return {
      framesPerSecond: isLong ? ((this.#frames - 1) * 90_000) / all90k : undefined,
      // Measured over whole groups of pictures if possible, because key frames contain most of the bits.
      bitsPerSecond: isLong ? ((to!.bytesBefore - from!.bytesBefore) * 8 * 90_000) / span90k(from, to) : undefined,
      keyFrameSeconds: this.#keys > 1 ? keys90k / 90_000 / (this.#keys - 1) : undefined,
    }
  }

  /** Begins a run. The times of two runs are unrelated, so earlier measurements are discarded. */
  #begin(format: StreamFormat): void {
    this.#format = format
    this.#collector = new KeyFrameCollector(format.video.codec)
    this.#first = undefined
    this.#last = undefined
    this.#firstKey = undefined
    this.#lastKey = undefined
    this.#frames = 0
    this.#keys = 0
    this.#bytes = 0
  }

  #takeFrame(frame: Frame): void {
    const { dts90k, isKey, data } = frame
    const mark = { at90k: dts90k, bytesBefore: this.#bytes }
    this.#first ??= mark
    this.#last = mark
    this.#frames++
    this.#bytes += data.length
    const keyFrame = this.#collector?.push(frame)
    // A copy, because the memory of frames is used again.
    if (keyFrame && this.#format) this.#keyFrame = { format: this.#format, data: keyFrame.slice() }
    if (!isKey) return
    this.#keys++
    this.#firstKey ??= mark
    this.#lastKey = mark
  }
}

function span90k(from: Mark | undefined, to: Mark | undefined): number {
  return from && to ? to.at90k - from.at90k : 0
}

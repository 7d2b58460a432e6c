// The interval between a camera's key frames: how long a viewer who joins between two of them may have to wait. It is
// kept over connections.

import type { HubItem } from '../../hub/hub-item.ts'

/** The longest of this many intervals counts, because cameras that save bandwidth stretch some of their groups. */
const rememberedIntervals = 4
/** A difference of less is not worth telling. */
const toldChange = 0.1
/**
 * Nobody notices a shorter wait: all shorter intervals are told as this one. Where every picture is a key frame, they
 * differ each time.
 */
const minToldMs = 1000

export class KeyIntervals {
  #last90k: number | undefined
  #newest: number[] = []
  #toldMs = 0

  /** False until two key frames of one run were seen. */
  get isKnown(): boolean {
    return this.#newest.length > 0
  }

  /**
   * Takes each item that is published. Returns the interval in milliseconds when it is another than the one told
   * before, at least a second.
   */
  take(item: HubItem): number | undefined {
    if (item.kind === 'start' || item.kind === 'end') this.#last90k = undefined
    else if (item.kind === 'video' && item.isKey) return this.#takeKey(item.dts90k)
    return undefined
  }

  #takeKey(dts90k: number): number | undefined {
    const before90k = this.#last90k
    this.#last90k = dts90k
    if (before90k === undefined) return undefined
    this.#newest.push((dts90k - before90k) / 90)
    if (this.#newest.length > rememberedIntervals) this.#newest.shift()
    const longestMs = Math.round(Math.max(minToldMs, ...this.#newest))
    if (Math.abs(longestMs - this.#toldMs) <= this.#toldMs * toldChange) return undefined
    this.#toldMs = longestMs
    return longestMs
  }
}

// The interval between a camera's key frames. It is the longest time that a viewer who joins between two of them waits,
// and it is kept across connections.

import type { HubItem } from '../../hub/hub-item.ts'

/** The longest of this many intervals counts, because cameras that save bandwidth stretch some groups of pictures. */
const rememberedIntervals = 4
/** A relative difference smaller than this is not reported. */
const minReportedChange = 0.1
/**
 * Shorter intervals are reported as this one, because nobody notices such a short wait. If every frame is a key frame,
 * the real intervals differ each time.
 */
const minReportedMs = 1000

export class KeyIntervals {
  #last90k: number | undefined
  #newest: number[] = []
  #reportedMs = 0

  /** False until two key frames of one run were seen. */
  get isKnown(): boolean {
    return this.#newest.length > 0
  }

  /**
   * Takes a published item. Returns the interval in milliseconds, at least a second, if it differs from the last
   * reported one.
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
    const longestMs = Math.round(Math.max(minReportedMs, ...this.#newest))
    if (Math.abs(longestMs - this.#reportedMs) <= this.#reportedMs * minReportedChange) return undefined
    this.#reportedMs = longestMs
    return longestMs
  }
}

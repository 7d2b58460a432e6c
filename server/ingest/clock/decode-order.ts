// Computes decode times for frames that are not displayed in the order in which they are sent (B-frames).
//
// RTP timestamps say when a frame is displayed. If up to `depth` frames come before one that is displayed earlier, the
// n-th frame that arrives is decoded when the frame `depth` positions earlier in display order is displayed. Such a
// time is never after the frame's own display time, the times are evenly spaced, and each is known as soon as the frame
// arrives. Explanation: docs/design/formats.md.

import type { PictureOrder } from '../../media/frame.ts'

const defaultFrameRate = 25

export class DecodeOrder {
  /** Decode time of the last placed frame. It increases strictly. */
  dts90k = 0
  #depth = 0
  #maxDepth = 0
  /** The newest presentation times in ascending order, at most `#maxDepth` + 1. */
  #newest: number[] = []
  /** The greatest depth seen in a stream that does not signal its depth. It is kept across runs. */
  #learnedDepth = 0

  /** Begins a run. Its first frame is decoded at 0. Returns the presentation time of that frame. */
  begin({ depth, maxDepth, frameRate = defaultFrameRate }: PictureOrder): number {
    this.#maxDepth = maxDepth
    this.#depth = Math.min(maxDepth, depth ?? this.#learnedDepth)
    const step90k = Math.round(90_000 / frameRate)
    this.#newest = Array.from({ length: this.#depth + 1 }, (_, i) => i * step90k)
    this.dts90k = 0
    return this.#depth * step90k
  }

  /**
   * Finds the presentation time of a frame whose timestamp says `pts90k`, which is not later than that of an earlier
   * frame. It is `pts90k`, or one tick after another frame with the same time (the second field of a frame). Returns
   * undefined if reordering cannot explain the timestamp, which means that the camera's clock is faulty.
   */
  findPlace(pts90k: number): number | undefined {
    if (this.#maxDepth === 0) return undefined
    let place = pts90k
    for (const time of this.#newest) if (time === place) place++
    return place > this.#newest[0]! ? place : undefined
  }

  /** Takes the next frame and sets `dts90k`. */
  place(pts90k: number): void {
    if (this.#maxDepth === 0) {
      this.dts90k = Math.max(pts90k, this.dts90k + 1)
      return
    }
    const newest = this.#newest
    let at = newest.length
    while (at > 0 && newest[at - 1]! > pts90k) at--
    const ahead = newest.length - at
    newest.splice(at, 0, pts90k)
    if (newest.length > this.#maxDepth + 1) newest.shift()
    if (ahead > this.#depth) this.#learnedDepth = this.#depth = Math.min(ahead, this.#maxDepth)
    const due90k = newest[newest.length - 1 - this.#depth] ?? newest[0]!
    this.dts90k = Math.max(due90k, this.dts90k + 1)
  }
}

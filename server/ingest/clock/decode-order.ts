// Decode times for pictures that are not shown in the order they are sent in (B-frames).
//
// RTP timestamps say when a picture is shown. Where up to `depth` pictures come before one that is shown earlier, the
// picture that comes n-th is decoded when the one `depth` places earlier in the order of showing is shown: never after
// its own time, evenly spaced, and known as soon as it arrives, so nothing waits. Docs: docs/design/formats.md.

import type { PictureOrder } from '../../media/frame.ts'

const usualFrameRate = 25

export class DecodeOrder {
  /** Of the picture last placed; increases strictly. */
  dts90k = 0
  #depth = 0
  #maxDepth = 0
  /** The newest presentation times, ascending; one more than `#maxDepth` at most. */
  #newest: number[] = []
  /** The greatest depth seen where the stream does not tell its own: kept over runs. */
  #learnedDepth = 0

  /** A run begins. Its first picture is decoded at 0; returns when it is shown. */
  begin({ depth, maxDepth, frameRate = usualFrameRate }: PictureOrder): number {
    this.#maxDepth = maxDepth
    this.#depth = Math.min(maxDepth, depth ?? this.#learnedDepth)
    const step90k = Math.round(90_000 / frameRate)
    this.#newest = Array.from({ length: this.#depth + 1 }, (_, i) => i * step90k)
    this.dts90k = 0
    return this.#depth * step90k
  }

  /**
   * Where a picture is shown whose timestamp says `pts90k`, no later than that of a picture before it: there, or a tick
   * behind another with the same time (the second field of a frame). Undefined when that is no reordering but a fault
   * of the camera's clock.
   */
  findPlace(pts90k: number): number | undefined {
    if (this.#maxDepth === 0) return undefined
    let place = pts90k
    for (const time of this.#newest) if (time === place) place++
    return place > this.#newest[0]! ? place : undefined
  }

  /** The next picture; see `dts90k`. */
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

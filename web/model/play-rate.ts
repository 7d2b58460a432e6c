// How a recording is played faster: by the video itself, which shows every picture and needs as much more of everything, or by a stream
// of key frames, which costs what the footage costs and jumps from picture to picture.

/** `stream`: the server's speed. `video`: how fast the video plays that. */
export type DividedRate = { readonly stream: number; readonly video: number }

const keyFramesFrom = 8

/** `keepsUp`: whether this browser, and the way to it, have done so far. */
export function divideRate(rate: number, keepsUp: boolean): DividedRate {
  const usesKeyFrames = rate >= keyFramesFrom || (rate > 1 && !keepsUp)
  return usesKeyFrames ? { stream: rate, video: 1 } : { stream: 1, video: rate }
}

const judgedAfterMs = 5_000
const leastPart = 0.6

/** Watches whether a video is as fast as it should be. */
export class Pace {
  #first: { readonly nowMs: number; readonly shownMs: number; readonly rate: number } | undefined

  /** Something else is played, or nothing: what was noted so far says nothing of it. */
  reset(): void {
    this.#first = undefined
  }

  /** What is shown now, some times a second. True when it has been too slow for a while. */
  isBehind(nowMs: number, shownMs: number, rate: number): boolean {
    const first = this.#first
    // Loading before the first picture is no lack of speed, nor is a jump.
    if (!first || first.rate !== rate || shownMs < first.shownMs) {
      this.#first = { nowMs, shownMs, rate }
      return false
    }
    const passedMs = nowMs - first.nowMs
    if (passedMs < judgedAfterMs) return false
    this.#first = { nowMs, shownMs, rate }
    return shownMs - first.shownMs < passedMs * rate * leastPart
  }
}

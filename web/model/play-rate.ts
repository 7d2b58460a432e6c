// Fast playback. Either the video element plays faster, which shows every frame and costs proportionally more, or the
// server streams key frames only, which costs no more than normal playback but skips from frame to frame.

/** `stream`: speed of the recorded stream. `video`: playback rate of the video element on top of it. */
export type DividedRate = { readonly stream: number; readonly video: number }

const keyFramesFrom = 8

/** `keepsUp`: whether browser and network have been fast enough so far. */
export function divideRate(rate: number, keepsUp: boolean): DividedRate {
  const usesKeyFrames = rate >= keyFramesFrom || (rate > 1 && !keepsUp)
  return usesKeyFrames ? { stream: rate, video: 1 } : { stream: 1, video: rate }
}

const judgedAfterMs = 5_000
const leastPart = 0.6

/** Measures whether a video plays as fast as it should. */
export class LagMeter {
  #first: { readonly nowMs: number; readonly shownMs: number; readonly rate: number } | undefined

  /** Resets the measurement when something else, or nothing, is played. */
  reset(): void {
    this.#first = undefined
  }

  /** Call a few times per second with the displayed time. Returns true after playback has been too slow for a while. */
  isBehind(nowMs: number, shownMs: number, rate: number): boolean {
    const first = this.#first
    // Loading before the first frame and seeking do not count as slow.
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

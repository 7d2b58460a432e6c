// Holds frames of a camera with an unknown clock that were taken before they arrived: they waited while the thread was
// blocked or the network stood still, or the camera begins with what it sent others before, back to its last key frame.
//
// The time of a new clock is derived from the arrival of its frames. The first frames of a backlog are as late as they
// waited, and the last ones are on time. Therefore the frames are held until the backlog has been read. The frame that
// is least late then determines the times of all of them. Audio in between is held with them.

import type { FrameMemory } from '../../media/frame-memory.ts'
import type { FrameAccess } from '../../media/video-depacketizer.ts'

const ticksPerMs = 90
/** Beyond these limits, frames keep the times at which they were read. */
const maxFrames = 600
const maxBytes = 8 * 1024 * 1024
/** Timestamps that are further apart do not belong to the same clock. */
const maxStepMs = 2000
/** Nor do those that step back by more, if the stream does not reorder its frames. */
const maxBackMs = 200
/** A pause that ends when frames are on time is a pause, and not another time on the clock. */
const onTimeMs = 300
/** Of one frame alone. */
const defaultStepMs = 40
/** A backlog does not pause for so long: frames that are no less late than those before are of the present. */
export const settledBacklogMs = 150
/** Less than that is jitter. */
const leastGainMs = 20
/** A camera that sends its last group of pictures is not slower. */
const longestMs = 5000

export type HeldFrame = {
  readonly data: Uint8Array
  readonly timestamp90k: number
  readonly isKey: boolean
  readonly memory: FrameMemory | undefined
  readonly access: FrameAccess | undefined
  /** When the frame was read, by the arrival clock. */
  readonly arrivalMs: number
  /** The depacketizer's number of losses when the frame arrived. */
  readonly losses: number
}

/** Audio that arrived between held frames. */
export type HeldAudio = {
  readonly data: Uint8Array
  /** Undefined for an RTP packet. */
  readonly timestamp: number | undefined
  readonly arrivalMs: number
}

type Held = { readonly frame: HeldFrame } | { readonly audio: HeldAudio }

export class FrameBacklog {
  #held: Held[] = []
  #bytes = 0
  /** When the first frame arrived, and the last one. */
  #firstMs = 0
  #newestMs = 0
  #leastDelayMs = Number.POSITIVE_INFINITY
  /** When a frame last was clearly less late than all before it. */
  #gainedMs = 0

  get isHolding(): boolean {
    return this.#held.length > 0
  }

  get isFull(): boolean {
    return this.#held.length >= maxFrames || this.#bytes >= maxBytes
  }

  /** True while frames are less and less late. One frame alone does not tell. */
  get isCatchingUp(): boolean {
    return this.#newestMs - this.#gainedMs < settledBacklogMs && this.#newestMs - this.#firstMs < longestMs
  }

  hold(frame: HeldFrame): void {
    const { arrivalMs, timestamp90k } = frame
    if (!this.isHolding) this.#firstMs = arrivalMs
    this.#held.push({ frame })
    this.#bytes += frame.data.length
    this.#newestMs = arrivalMs
    const delayMs = arrivalMs - timestamp90k / ticksPerMs
    if (delayMs < this.#leastDelayMs - leastGainMs) {
      this.#gainedMs = arrivalMs
      this.#leastDelayMs = delayMs
    }
  }

  holdAudio(audio: HeldAudio): void {
    this.#held.push({ audio })
    this.#bytes += audio.data.length
  }

  /**
   * Returns what is held in order, with the earliest arrival times that the timestamps of frames allow, and audio with
   * that of the frame before it. Where the camera's clock was set, the frames before follow each other up to there.
   * `afterMs`: the camera's clock was set after a frame of this time, whose successors follow it as their timestamps say.
   * How late the last one is tells nothing then: more may have waited than was kept, or the camera has been silent since.
   */
  list({
    isInOrder,
    afterMs,
  }: {
    readonly isInOrder: boolean
    readonly afterMs?: number | undefined
  }): readonly Held[] {
    const frames = this.#held.flatMap((each) => ('frame' in each ? [each.frame] : []))
    const latest = findArrivals(frames, isInOrder ? maxBackMs : maxStepMs)
    const arrivals = afterMs === undefined ? latest : findFollowing(frames, afterMs, latest)
    let i = -1
    return this.#held.map((each) => {
      if ('frame' in each) return { frame: { ...each.frame, arrivalMs: arrivals[++i]! } }
      return { audio: { ...each.audio, arrivalMs: arrivals[i]! } }
    })
  }
}

function findArrivals(frames: readonly HeldFrame[], mostBackMs: number): number[] {
  const continues = (i: number) => {
    const ms = stepMs(frames[i - 1]!, frames[i]!)
    return ms >= -mostBackMs && ms <= maxStepMs
  }
  const arrivals: number[] = []
  let end = frames.length
  let limitMs = Number.POSITIVE_INFINITY
  while (end > 0) {
    let begin = end - 1
    while (begin > 0 && continues(begin)) begin--
    const part = frames.slice(begin, end)
    const last = part.at(-1)!
    const delayMs = Math.min(...part.map(({ arrivalMs, timestamp90k }) => arrivalMs - timestamp90k / ticksPerMs))
    const usualMs = part.length > 1 ? Math.max(1, stepMs(part.at(-2)!, last)) : defaultStepMs
    const offsetMs = Math.min(delayMs, limitMs - usualMs - last.timestamp90k / ticksPerMs)
    arrivals.unshift(...part.map(({ timestamp90k }) => timestamp90k / ticksPerMs + offsetMs))
    limitMs = arrivals[0]!
    end = begin
  }
  return arrivals
}

function findFollowing(frames: readonly HeldFrame[], afterMs: number, latest: readonly number[]): number[] {
  let ms = afterMs
  return frames.map((frame, i) => {
    const ownMs = i === 0 ? defaultStepMs : stepMs(frames[i - 1]!, frame)
    const isUsual = ownMs >= 0 && ownMs <= maxStepMs
    // What did not wait is missing, and the frames after it came on time.
    const isOnTime = ownMs > maxStepMs && Math.abs(ms + ownMs - latest[i]!) <= onTimeMs
    ms = Math.min(ms + (isUsual || isOnTime ? ownMs : defaultStepMs), latest[i]!)
    return ms
  })
}

const stepMs = (a: HeldFrame, b: HeldFrame): number => (b.timestamp90k - a.timestamp90k) / ticksPerMs

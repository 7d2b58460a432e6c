// Holds frames of a camera with an unknown clock that arrived while the thread was blocked.
//
// The time of a new clock is derived from the arrival of its frames. If the thread was blocked, the first frames of a
// backlog appear as late as the thread was blocked, and the last ones are on time. Therefore the frames are held until
// the backlog has been read. The frame that is least late then determines the times of all of them.

import type { FrameMemory } from '../../media/frame-memory.ts'
import type { FrameAccess } from '../../media/video-depacketizer.ts'

const ticksPerMs = 90
/** Beyond these limits, frames keep the times at which they were read. */
const maxFrames = 600
const maxBytes = 8 * 1024 * 1024
/** Timestamps that are further apart do not belong to the same clock. */
const maxStepMs = 2000

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

export class FrameBacklog {
  #held: HeldFrame[] = []
  #bytes = 0

  get isHolding(): boolean {
    return this.#held.length > 0
  }

  get isFull(): boolean {
    return this.#held.length >= maxFrames || this.#bytes >= maxBytes
  }

  hold(frame: HeldFrame): void {
    this.#held.push(frame)
    this.#bytes += frame.data.length
  }

  /** Removes and returns the held frames in order, with the earliest arrival times that their timestamps allow. */
  take(): HeldFrame[] {
    const held = this.#held
    this.#held = []
    this.#bytes = 0
    const delays = held.map(({ arrivalMs, timestamp90k }) => arrivalMs - timestamp90k / ticksPerMs)
    const sharesVideoClock = held.every(
      ({ timestamp90k }, i) => i === 0 || Math.abs(timestamp90k - held[i - 1]!.timestamp90k) <= maxStepMs * ticksPerMs,
    )
    if (!sharesVideoClock) return held
    const delayMs = Math.min(...delays)
    return held.map((frame) => ({ ...frame, arrivalMs: frame.timestamp90k / ticksPerMs + delayMs }))
  }
}

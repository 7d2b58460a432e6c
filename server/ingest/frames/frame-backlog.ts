// Pictures that waited for a thread that stood still, from a camera whose clock is not known yet.
//
// The time of a new clock is found from when its pictures arrive. The first ones of a backlog arrive late by as much as
// the thread stood still, the last ones on time. So the pictures are held until the backlog has been read, and the one
// that is least late tells when all of them came.

import type { FrameMemory } from '../../media/frame-memory.ts'
import type { FrameAccess } from '../../media/video-depacketizer.ts'

const ticksPerMs = 90
/** Beyond these, pictures are taken at the times they were read. */
const maxPictures = 600
const maxBytes = 8 * 1024 * 1024
/** Timestamps that are further apart are not of one clock. */
const maxStepMs = 2000

export type HeldFrame = {
  readonly data: Uint8Array
  readonly timestamp90k: number
  readonly isKey: boolean
  readonly memory: FrameMemory | undefined
  readonly access: FrameAccess | undefined
  /** When it was read, by the clock of arrivals. */
  readonly arrivalMs: number
  /** The depacketizer's count of losses when it came. */
  readonly losses: number
}

export class FrameBacklog {
  #held: HeldFrame[] = []
  #bytes = 0

  get isHolding(): boolean {
    return this.#held.length > 0
  }

  get isFull(): boolean {
    return this.#held.length >= maxPictures || this.#bytes >= maxBytes
  }

  hold(picture: HeldFrame): void {
    this.#held.push(picture)
    this.#bytes += picture.data.length
  }

  /** Takes what is held, in its order, with arrival times that are as early as the timestamps allow. */
  take(): HeldFrame[] {
    const held = this.#held
    this.#held = []
    this.#bytes = 0
    const delays = held.map(({ arrivalMs, timestamp90k }) => arrivalMs - timestamp90k / ticksPerMs)
    const isOneClock = held.every(
      ({ timestamp90k }, i) => i === 0 || Math.abs(timestamp90k - held[i - 1]!.timestamp90k) <= maxStepMs * ticksPerMs,
    )
    if (!isOneClock) return held
    const delayMs = Math.min(...delays)
    return held.map((picture) => ({ ...picture, arrivalMs: picture.timestamp90k / ticksPerMs + delayMs }))
  }
}

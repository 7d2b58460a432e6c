// Counts the chunks that were dropped for slow viewers and logs them at most once a second.

import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { LiveFormat } from './live-chunk.ts'

const minWarnIntervalMs = 1000

export class DropLog {
  readonly #log: Logger
  readonly #clock: Clock
  #total = 0
  #unlogged = 0
  #lastWarnMs = Number.NEGATIVE_INFINITY

  constructor(log: Logger, clock: Clock) {
    this.#log = log
    this.#clock = clock
  }

  get total(): number {
    return this.#total
  }

  add(cameraId: number, format: LiveFormat, chunks: number): void {
    this.#total += chunks
    this.#unlogged += chunks
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#lastWarnMs < minWarnIntervalMs) return
    this.#log.warn(
      { cameraId, format, chunks: this.#unlogged },
      'Dropped chunks for a slow live viewer, which continues at the next key frame',
    )
    this.#lastWarnMs = nowMs
    this.#unlogged = 0
  }
}

// The live HLS stream of one camera. It exists from the first playlist request until no request has come for a while.

import type { ByteBudget } from '../base/byte-budget.ts'
import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import { Notifier } from '../base/notifier.ts'
import { pause } from '../base/pause.ts'
import { HlsWindow } from './hls-window.ts'
import type { LiveChunk } from './live-chunk.ts'
import { type LiveSubscription, receiveChunks } from './live-subscriber.ts'

export type HlsStreamOptions = {
  readonly subscribe: (onChunk: (chunk: LiveChunk) => void) => LiveSubscription
  readonly clock: Clock
  /** The stream is closed after this time without a request. */
  readonly idleMs: number
  /** The memory limit for the segments of all cameras together. */
  readonly budget: ByteBudget
  readonly firstDiscontinuitySequence: number
  /** `nextDiscontinuitySequence` is the first number for the camera's next stream. */
  readonly onClosed: (nextDiscontinuitySequence: number) => void
}

/** With less than this, every player would stall at once. */
const earlySegments = 2
const earlyMs = 4000

/**
 * Unknown players may begin three target durations before the end. This is the maximum additional time to wait for
 * that many segments.
 */
const maxExtraWaitMs = 6000

export type PlaylistOptions = {
  /** The maximum total time to wait. */
  readonly waitMs: number
  /** The player can begin with two segments. */
  readonly isEarly?: boolean | undefined
}

export class HlsStream {
  readonly #options: HlsStreamOptions
  readonly #window: HlsWindow
  readonly #changed = new Notifier()
  readonly #closed = new AbortController()
  readonly #unsubscribe: () => void
  #lastUsedMs: number
  /** When the additional wait ends. It happens once per stream, for all players together. */
  #extraUntilMs: number | undefined

  constructor(options: HlsStreamOptions) {
    const { clock, subscribe } = options
    this.#options = options
    this.#lastUsedMs = clock.monotonicMs()
    this.#window = new HlsWindow({
      // Seconds pass faster than segments, so the numbers also increase after a pause or a restart of the server.
      firstSequence: Math.floor(clock.nowMs() / 1000),
      firstDiscontinuitySequence: options.firstDiscontinuitySequence,
      minSegmentMs: 1500,
      maxSegmentMs: 6000,
      listedSegments: 6,
      lateSegments: 6,
      maxSegmentBytes: 32 * 1024 * 1024,
      maxBytes: 192 * 1024 * 1024,
      budget: options.budget,
    })
    this.#unsubscribe = receiveChunks(subscribe, (chunk) => {
      this.#window.add(chunk)
      this.#changed.notify()
    })
    void this.#closeWhenIdle()
  }

  /** Waits until there is enough to play. Throws 'unavailable' if there is no segment in time. */
  async playlist(segmentUrl: (name: string) => string, { waitMs, isEarly = false }: PlaylistOptions): Promise<string> {
    const { clock } = this.#options
    const window = this.#window
    const untilMs = clock.monotonicMs() + waitMs
    while (!window.isEnoughForAll) {
      this.#lastUsedMs = clock.monotonicMs()
      const isPlayable = window.listedCount >= earlySegments || window.listedMs >= earlyMs
      if (isPlayable) this.#extraUntilMs ??= this.#lastUsedMs + maxExtraWaitMs
      if (isPlayable && isEarly) break
      const endMs = isPlayable ? Math.min(untilMs, this.#extraUntilMs!) : untilMs
      const leftMs = endMs - this.#lastUsedMs
      if (leftMs <= 0 || this.#closed.signal.aborted) break
      await this.#changed.wait(clock, leftMs, this.#closed.signal)
    }
    this.#lastUsedMs = clock.monotonicMs()
    if (window.listedCount === 0) {
      throw new AppError('unavailable', `no segment was available within ${waitMs / 1000} s`)
    }
    return window.playlist(segmentUrl)
  }

  /** Returns a segment. Throws 'not_found' if it has left the window. */
  segment(name: string): Uint8Array {
    this.#lastUsedMs = this.#options.clock.monotonicMs()
    const data = this.#window.find(name)
    if (!data) throw new AppError('not_found', `no live segment ${name}: it is older than the window, or never was`)
    return data
  }

  get bytes(): number {
    return this.#window.bytes
  }

  close(): void {
    if (this.#closed.signal.aborted) return
    this.#closed.abort()
    this.#unsubscribe()
    this.#window.close()
    this.#options.onClosed(this.#window.nextDiscontinuitySequence)
  }

  async #closeWhenIdle(): Promise<void> {
    const { clock, idleMs } = this.#options
    while (!this.#closed.signal.aborted) {
      const leftMs = this.#lastUsedMs + idleMs - clock.monotonicMs()
      if (leftMs <= 0) this.close()
      else await pause(clock, leftMs, this.#closed.signal)
    }
  }
}

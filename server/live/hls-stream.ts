// The live HLS stream of one camera. It exists from the first playlist request until no request has come for a while.

import type { ByteBudget } from '../base/byte-budget.ts'
import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import { Notifier } from '../base/notifier.ts'
import { pause } from '../base/pause.ts'
import { Timer } from '../base/timer.ts'
import { HlsWindow } from './hls-window.ts'
import { type LiveChunk, minSegmentMs } from './live-chunk.ts'
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
  /** The response is held until the playlist has this part, or part 0 of this segment. Ignored if it has no parts. */
  readonly until?: { readonly sequence: number; readonly part?: number | undefined } | undefined
} & Holding

/** A request that may be held until something exists. */
export type Holding = {
  /** Whose request it is. */
  readonly account?: number | undefined
  /** Aborted when the client leaves or loses access. */
  readonly signal?: AbortSignal | undefined
}

/** Of one account and camera. A player has two requests waiting: for the playlist and for the next part. */
const maxHeld = 32

/** Nothing is held any longer when the camera has sent nothing for this many target durations. RFC 8216bis 6.2.5.2. */
const maxHeldTargets = 3

export class HlsStream {
  readonly #options: HlsStreamOptions
  readonly #window: HlsWindow
  readonly #changed = new Notifier()
  readonly #closed = new AbortController()
  readonly #unsubscribe: () => void
  #lastUsedMs: number
  /** Requests that are being held, by account. */
  readonly #held = new Map<number | undefined, number>()
  readonly #silence: Timer
  /** How often the camera has fallen silent. */
  #silences = 0
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
      minSegmentMs,
      maxSegmentMs: 6000,
      listedSegments: 6,
      lateSegments: 6,
      maxSegmentBytes: 32 * 1024 * 1024,
      maxBytes: 192 * 1024 * 1024,
      budget: options.budget,
    })
    this.#silence = new Timer(clock, this.#closed.signal)
    this.#unsubscribe = receiveChunks(subscribe, (chunk) => {
      this.#window.add(chunk)
      this.#silence.stop()
      if (chunk.kind === 'end') this.#silences++
      this.#changed.notify()
    })
    void this.#closeWhenIdle()
  }

  /**
   * Waits until there is enough to play, and until `until`. Throws 'unavailable' if there is no segment in time or the
   * account has too many requests waiting, 'invalid' if `until` is too far ahead.
   */
  async playlist(
    segmentUrl: (name: string) => string,
    { waitMs, isEarly = false, until, ...holding }: PlaylistOptions,
  ): Promise<string> {
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
    if (until) await this.#hold(holding, () => this.#reaches(until))
    return window.playlist(segmentUrl)
  }

  #reaches({ sequence, part }: NonNullable<PlaylistOptions['until']>): boolean {
    const isReached = this.#window.reaches(sequence, part)
    if (isReached !== 'never') return isReached
    throw new AppError('invalid', 'the playlist is asked for segments or parts that are too far ahead')
  }

  /**
   * Returns a segment, part or initialization section. Waits for the part that comes next. Throws 'not_found' if it has
   * left the window or does not come, 'unavailable' if the account has too many requests waiting.
   */
  async segment(name: string, holding: Holding = {}): Promise<Uint8Array> {
    this.#lastUsedMs = this.#options.clock.monotonicMs()
    if (name === this.#window.nextPartName) await this.#hold(holding, () => name !== this.#window.nextPartName)
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
    this.#changed.notify()
    this.#unsubscribe()
    this.#window.close()
    this.#options.onClosed(this.#window.nextDiscontinuitySequence)
  }

  /**
   * Returns when `isOver` or when the camera falls silent. Throws 'unavailable' when the client leaves or loses access, or
   * the stream is closed: nothing is sent to it any more.
   */
  async #hold({ account, signal = this.#closed.signal }: Holding, isOver: () => boolean): Promise<void> {
    const { clock } = this.#options
    const silences = this.#silences
    const isGone = () => signal.aborted || this.#closed.signal.aborted
    const isDone = () => isGone() || isOver() || this.#silences > silences
    if (isDone() && !isGone()) return
    const held = this.#held.get(account) ?? 0
    if (held >= maxHeld) {
      throw new AppError('unavailable', `${maxHeld} requests for this camera are waiting for what comes next`)
    }
    this.#held.set(account, held + 1)
    try {
      while (!isDone()) {
        if (!this.#silence.isRunning)
          this.#silence.start(maxHeldTargets * this.#window.targetDurationMs, this.#fallSilent)
        await this.#changed.next(signal)
      }
    } finally {
      const left = this.#held.get(account)! - 1
      if (left > 0) this.#held.set(account, left)
      else this.#held.delete(account)
      this.#lastUsedMs = clock.monotonicMs()
    }
    if (isGone()) throw new AppError('unavailable', 'the request was aborted')
  }

  readonly #fallSilent = () => {
    this.#silences++
    this.#changed.notify()
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

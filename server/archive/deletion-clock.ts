// The time used for deletion by age (model/trusted-time.ts), shared by all parts of the server that delete.

import type { Clock } from '../base/clock.ts'
import { errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { repeat } from '../base/repeat.ts'
import { TrustedTime, type TrustedTimeState } from '../model/trusted-time.ts'

export type DeletionClockOptions = {
  readonly rows: { find(): Promise<TrustedTimeState | undefined>; write(time: TrustedTimeState): Promise<void> }
  readonly clock: Clock
  readonly log: Logger
}

/**
 * The machine's clock is ahead of the trusted time, and will be trusted after the server has run for this much longer.
 */
export type ClockDoubt = { readonly aheadMs: number; readonly remainingMs: number }

const intervalMs = 60_000

export function findDoubt({ aheadMs, remainingMs }: TrustedTime): ClockDoubt | undefined {
  return aheadMs > 0 ? { aheadMs, remainingMs } : undefined
}

export class DeletionClock {
  readonly #options: DeletionClockOptions
  readonly #time: TrustedTime
  #lastMs: number
  #isDoubted = false

  private constructor(options: DeletionClockOptions, kept: TrustedTimeState | undefined) {
    const { clock } = options
    this.#options = options
    this.#lastMs = clock.monotonicMs()
    this.#time = new TrustedTime(clock.nowMs(), kept)
  }

  static async open(options: DeletionClockOptions): Promise<DeletionClock> {
    const opened = new DeletionClock(options, await options.rows.find())
    await opened.#look()
    return opened
  }

  /** Unix milliseconds, whole ones: PostgreSQL compares its columns with no others. */
  nowMs(): number {
    const { clock } = this.#options
    const monotonicMs = clock.monotonicMs()
    this.#time.update(clock.nowMs(), monotonicMs - this.#lastMs)
    this.#lastMs = monotonicMs
    return Math.floor(this.#time.ms)
  }

  /** Undefined while the machine's clock is trusted. */
  doubt(): ClockDoubt | undefined {
    this.nowMs()
    return findDoubt(this.#time)
  }

  /**
   * Saves the trusted time for the next start and logs changes, until `signal` aborts. Throws the database's errors.
   */
  async run(signal: AbortSignal): Promise<void> {
    await repeat(() => this.#look(), { clock: this.#options.clock, signal, intervalMs, isDelayed: true })
    await this.#look()
  }

  async #look(): Promise<void> {
    const { log, rows } = this.#options
    const doubt = this.doubt()
    const isDoubted = doubt !== undefined
    if (isDoubted && !this.#isDoubted) {
      const seconds = Math.round(doubt.aheadMs / 1000)
      log.warn(
        { seconds },
        'the clock moved forward: the server was off, or the clock was set. Footage that is too old only because of this is kept for 24 hours',
      )
    } else if (!isDoubted && this.#isDoubted)
      log.info({}, 'the clock is trusted again; footage is deleted by its age as usual')
    this.#isDoubted = isDoubted
    // A later check writes it.
    await rows
      .write(this.#time.kept)
      .catch((error) => log.error({ error: errorChain(error) }, 'the trusted time could not be saved'))
  }
}

// The clock of a machine that does not know the time when it starts: without a battery, its clock begins in 1970, or
// when its system was built, until the network tells the time. What happens until then must not be dated years before
// what it follows.

import type { Clock } from './clock.ts'

/** The machine's clock was wrong at the start. It passes between threads. */
export type ClockStart = {
  /** The time was this or later, Unix milliseconds. */
  readonly knownMs: number
  /** When that was found, by the monotonic clock that all threads share (`process.hrtime`), in milliseconds. */
  readonly atMs: number
}

/** People correct clocks by hours. One that is further behind was never set. */
const toleratedMs = 86_400_000
/** A clock that stays so for so long is what the operator wants. */
const longestMs = 86_400_000

const readShared = () => Number(process.hrtime.bigint()) / 1e6

export class StartClock implements Clock {
  readonly #machine: Clock
  readonly #sharedMs: () => number
  #start: ClockStart | undefined

  /** `start`: as found by another thread. `sharedMs`: replaced in tests. */
  constructor(machine: Clock, start?: ClockStart, sharedMs = readShared) {
    this.#machine = machine
    this.#sharedMs = sharedMs
    this.#start = start
  }

  /** Undefined once the machine's clock is right. */
  get start(): ClockStart | undefined {
    return this.#start
  }

  /** Takes a time that has passed, Unix milliseconds. Returns false if the machine's clock is wrong. */
  notBefore(knownMs: number): boolean {
    const { knownMs: beforeMs = 0 } = this.#start ?? {}
    if (knownMs <= beforeMs || this.#machine.nowMs() >= knownMs - toleratedMs) return this.#start === undefined
    this.#start = { knownMs, atMs: this.#sharedMs() }
    return false
  }

  /**
   * The machine's clock. If it was wrong at the start, the known time and what has passed since, until the machine's
   * clock is set, or for a day.
   */
  nowMs(): number {
    const nowMs = this.#machine.nowMs()
    if (this.#start === undefined) return nowMs
    const { knownMs, atMs } = this.#start
    const passedMs = this.#sharedMs() - atMs
    if (nowMs < knownMs - toleratedMs && passedMs < longestMs) return Math.floor(knownMs + passedMs)
    this.#start = undefined
    return nowMs
  }

  monotonicMs(): number {
    return this.#machine.monotonicMs()
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#machine.sleep(ms, signal)
  }
}

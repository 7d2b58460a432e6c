// A clock that stands still until the test moves it.

import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../server/base/clock.ts'

type Sleeper = { readonly atMs: number; readonly wake: () => void }

export class TestClock implements Clock {
  readonly #startMs: number
  #elapsedMs = 0
  #sleepers: Sleeper[] = []

  /** `startMs`: the wall clock at the beginning, Unix time in milliseconds. */
  constructor(startMs = Date.UTC(2030, 0, 1)) {
    this.#startMs = startMs
  }

  nowMs(): number {
    return this.#startMs + this.#elapsedMs
  }

  monotonicMs(): number {
    return this.#elapsedMs
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    if (signal?.aborted) return Promise.reject(signal.reason)
    const sleeper: Sleeper = { atMs: this.#elapsedMs + Math.max(0, ms), wake: resolve }
    this.#sleepers.push(sleeper)
    signal?.addEventListener('abort', () => {
      this.#sleepers = this.#sleepers.filter((other) => other !== sleeper)
      reject(signal.reason)
    })
    return promise
  }

  /** Lets time pass. Wakes the sleepers in order, and lets each of them run before it wakes the next. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#elapsedMs + ms
    await settle()
    for (;;) {
      const next = this.#sleepers.reduce<Sleeper | undefined>((a, b) => (a && a.atMs <= b.atMs ? a : b), undefined)
      if (!next || next.atMs > untilMs) break
      this.#sleepers = this.#sleepers.filter((other) => other !== next)
      this.#elapsedMs = Math.max(this.#elapsedMs, next.atMs)
      next.wake()
      await settle()
    }
    this.#elapsedMs = untilMs
  }

  /** Lets time pass at once, for code that only reads the clock. Sleepers wake at the next `advance`. */
  skip(ms: number): void {
    this.#elapsedMs += ms
  }
}

/** Waits until everything has run that can run without time passing. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await setImmediate()
}

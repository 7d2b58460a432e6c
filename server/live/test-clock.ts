// For tests: a clock that stands still until it is told to go on.

import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../base/clock.ts'

type Sleeper = { readonly atMs: number; readonly wake: () => void }

export class TestClock implements Clock {
  readonly #startMs: number
  #elapsedMs = 0
  #sleepers: Sleeper[] = []

  /** `startMs`: the wall clock at the beginning. */
  constructor(startMs = 1_700_000_000_000) {
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

  /** Lets time pass, waking sleepers in order and letting each run before the next. */
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
}

/** Until everything that can run without time passing has run. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await setImmediate()
}

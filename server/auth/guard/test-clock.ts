// A clock for tests that advances only on request.

import type { Clock } from '../../base/clock.ts'

export class TestClock implements Clock {
  #nowMs: number

  constructor(startMs = Date.UTC(2030, 0, 1)) {
    this.#nowMs = startMs
  }

  nowMs(): number {
    return this.#nowMs
  }

  monotonicMs(): number {
    return this.#nowMs
  }

  advance(ms: number): void {
    this.#nowMs += ms
  }

  /** Resolves only when the test ends. */
  sleep(_ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
  }
}

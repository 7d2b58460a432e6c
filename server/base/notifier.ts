// Wakes everyone who waits for a change.

import type { Clock } from './clock.ts'
import { pause } from './pause.ts'

export class Notifier {
  readonly #waiting = new Set<AbortController>()

  /** Wakes everyone who waits now. Whoever waits later waits for the next change. */
  notify(): void {
    for (const waiter of this.#waiting) waiter.abort()
    this.#waiting.clear()
  }

  /** Resolves at the next notification, after `ms`, or when `signal` aborts, whichever comes first. Never rejects. */
  async wait(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
    const waiter = new AbortController()
    this.#waiting.add(waiter)
    await pause(clock, ms, signal ? AbortSignal.any([signal, waiter.signal]) : waiter.signal)
    this.#waiting.delete(waiter)
  }
}

// Wakes everyone who waits for a change.

import type { Clock } from './clock.ts'

export class Notifier {
  #next = Promise.withResolvers<void>()

  ring(): void {
    const rung = this.#next
    this.#next = Promise.withResolvers()
    rung.resolve()
  }

  /**
   * Resolves at the next notification or after `ms`, whichever comes first; rejects with `signal.reason` when aborted.
   */
  async wait(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
    const done = new AbortController()
    const any = signal ? AbortSignal.any([signal, done.signal]) : done.signal
    try {
      await Promise.race([this.#next.promise, clock.sleep(ms, any)])
    } finally {
      done.abort()
    }
  }
}

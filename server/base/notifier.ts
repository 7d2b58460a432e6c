// Wakes everyone who waits for a change.

import type { Clock } from './clock.ts'
import { pause } from './pause.ts'

export class Notifier {
  readonly #waiting = new Set<() => void>()

  /** Wakes everyone who waits now. Whoever waits later waits for the next change. */
  notify(): void {
    if (this.#waiting.size === 0) return
    const woken = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of woken) wake()
  }

  /** Resolves at the next notification or when `signal` aborts. Never rejects. */
  next(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal.addEventListener('abort', wake, { once: true })
      if (signal.aborted) wake()
    })
  }

  /**
   * Resolves at the next notification, after `ms`, or when `signal` aborts, whichever comes first. Never rejects.
   * Returns true if it was the time.
   */
  async wait(clock: Clock, ms: number, signal?: AbortSignal): Promise<boolean> {
    const woken = new AbortController()
    const wake = () => woken.abort()
    this.#waiting.add(wake)
    const isOver = await pause(clock, ms, signal ? AbortSignal.any([signal, woken.signal]) : woken.signal)
    this.#waiting.delete(wake)
    return isOver
  }
}

// A timer that can be restarted and stopped, on the clock of its owner. Two states: stopped and running.

import type { Clock } from './clock.ts'
import { pause } from './pause.ts'

export class Timer {
  readonly #clock: Clock
  readonly #signal: AbortSignal | undefined
  #running: AbortController | undefined

  /** Once `signal` aborts, no action is called any more. */
  constructor(clock: Clock, signal?: AbortSignal) {
    this.#clock = clock
    this.#signal = signal
  }

  /** True from `start` until the action is called or the timer is stopped. */
  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** Calls `action` once after `ms`. A timer that is running starts anew. `action` must not throw. */
  start(ms: number, action: () => void): void {
    this.stop()
    const running = new AbortController()
    this.#running = running
    const signal = this.#signal ? AbortSignal.any([this.#signal, running.signal]) : running.signal
    void pause(this.#clock, ms, signal).then(() => {
      // Otherwise it was stopped or restarted, perhaps at the very moment at which its time was over.
      if (this.#running !== running) return
      this.#running = undefined
      if (!signal.aborted) action()
    })
  }

  /** The action is not called. Does nothing if the timer is stopped. */
  stop(): void {
    this.#running?.abort()
    this.#running = undefined
  }
}

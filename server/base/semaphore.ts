// Limits how many tasks run at once; the others wait in order. For work that needs memory, a processor, or libuv's
// threads.

import { AppError } from './error.ts'

export type SemaphoreOptions = {
  readonly maxRunning: number
  /** Maximum number of waiting tasks; unlimited by default. */
  readonly maxWaiting?: number
  /** Message for tasks beyond the limit. */
  readonly refusal?: string
  readonly retryAfterSeconds?: number
}

export class Semaphore {
  readonly #options: SemaphoreOptions
  readonly #queue: (() => void)[] = []
  #running = 0
  #refused = 0

  constructor(options: SemaphoreOptions) {
    this.#options = options
  }

  stats(): { readonly running: number; readonly waiting: number; readonly refused: number } {
    return { running: this.#running, waiting: this.#queue.length, refused: this.#refused }
  }

  /** Runs `work` in order and returns its result. Throws like `checkRoom`. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    this.checkRoom()
    if (this.#running < this.#options.maxRunning) this.#running++
    else await new Promise<void>((resolve) => this.#queue.push(resolve))
    try {
      return await work()
    } finally {
      // Pass the slot on, so that a new task cannot overtake those that wait.
      const next = this.#queue.shift()
      if (next) next()
      else this.#running--
    }
  }

  /** Throws 'unavailable' if too many tasks wait. */
  checkRoom(): void {
    const {
      maxRunning,
      maxWaiting = Number.POSITIVE_INFINITY,
      refusal = 'too many wait',
      retryAfterSeconds,
    } = this.#options
    if (this.#running < maxRunning || this.#queue.length < maxWaiting) return
    this.#refused++
    throw new AppError('unavailable', refusal, retryAfterSeconds === undefined ? {} : { retryAfterSeconds })
  }
}

// Lets so many run at once and the others wait in order: work that takes memory, a processor, or the threads the process has for files.

import { AppError } from './error.ts'

export type SemaphoreOptions = {
  readonly maxRunning: number
  /** Default: however many come. */
  readonly maxWaiting?: number
  /** What whoever comes when so many wait is told. */
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

  /** What `work` gives, in the order of the calls. Throws as `checkRoom`. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    this.checkRoom()
    if (this.#running < this.#options.maxRunning) this.#running++
    else await new Promise<void>((resolve) => this.#queue.push(resolve))
    try {
      return await work()
    } finally {
      // The place is handed on, so that nobody who comes now overtakes those who wait.
      const next = this.#queue.shift()
      if (next) next()
      else this.#running--
    }
  }

  /** Throws 'unavailable' when too many wait. */
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

// All password hashing of the server: a few at once, a few more waiting, the rest refused. Each takes 19 MiB and some 10 ms of a
// core, on threads that the file system and name look-ups need as well, so a flood of log-ins must not have them all.

import { availableParallelism } from 'node:os'
import { AppError } from '../../base/error.ts'
import { checkPassword, hashAnyPassword, verifyPassword } from '../password.ts'

const retryAfterSeconds = 2

export type PasswordQueueOptions = {
  /** Hashes computed at the same time. */
  readonly maxRunning?: number
  /** Callers that may wait for their turn. */
  readonly maxWaiting?: number
}

/** All methods throw 'unavailable' when too many wait already. */
export class PasswordQueue {
  readonly #maxRunning: number
  readonly #maxWaiting: number
  readonly #waiting: (() => void)[] = []
  #running = 0
  #refused = 0

  constructor({ maxRunning = countPasswordThreads(), maxWaiting = 50 }: PasswordQueueOptions = {}) {
    this.#maxRunning = maxRunning
    this.#maxWaiting = maxWaiting
  }

  /** A PHC string with a salt of its own. Throws 'invalid' for a password that is too short or too long. */
  async hash(password: string): Promise<string> {
    checkPassword(password)
    return this.#run(() => hashAnyPassword(password))
  }

  /** For a password that an older hash was made of: no rule is applied to it. */
  rehash(password: string): Promise<string> {
    return this.#run(() => hashAnyPassword(password))
  }

  verify(passwordHash: string, password: string): Promise<boolean> {
    return this.#run(() => verifyPassword(passwordHash, password))
  }

  /** Throws what `verify` would throw, for callers that have other work to do before. */
  checkRoom(): void {
    if (this.#running < this.#maxRunning || this.#waiting.length < this.#maxWaiting) return
    this.#refused++
    throw new AppError('unavailable', 'too many passwords are being checked', { retryAfterSeconds })
  }

  stats(): { readonly running: number; readonly waiting: number; readonly refused: number } {
    return { running: this.#running, waiting: this.#waiting.length, refused: this.#refused }
  }

  async #run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#maxRunning) {
      this.checkRoom()
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else {
      this.#running++
    }
    try {
      return await work()
    } finally {
      // The place is handed on, so that nobody who comes now overtakes those who wait.
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running--
    }
  }
}

/** Leaves two of libuv's threads to others, and a core to the thread that serves them. */
export function countPasswordThreads(
  threads = Number(process.env.UV_THREADPOOL_SIZE) || 4,
  cores = availableParallelism(),
): number {
  return Math.max(1, Math.min(threads - 2, cores - 1))
}

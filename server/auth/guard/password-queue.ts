// Runs all password hashing of the server: a few at once, a few waiting, the rest is refused. Each takes 19 MiB and
// about 10 ms of a core on threads that the file system and name lookups need too, so many sign-ins must not occupy all
// of them.

import { availableParallelism } from 'node:os'
import { Semaphore } from '../../base/semaphore.ts'
import { checkPassword, hashAnyPassword, verifyPassword } from '../password.ts'

export type PasswordQueueOptions = {
  /** The number of hashes computed at the same time. */
  readonly maxRunning?: number
  /** The number of callers that may wait. */
  readonly maxWaiting?: number
}

/** All methods throw 'unavailable' if too many callers are waiting. */
export class PasswordQueue {
  readonly #semaphore: Semaphore

  constructor({ maxRunning = countPasswordThreads(), maxWaiting = 50 }: PasswordQueueOptions = {}) {
    const refusal = 'too many passwords are being checked'
    this.#semaphore = new Semaphore({ maxRunning, maxWaiting, refusal, retryAfterSeconds: 2 })
  }

  /** Returns a PHC string with its own salt. Throws 'invalid' for a password that is too short or too long. */
  async hash(password: string): Promise<string> {
    await checkPassword(password)
    return this.#semaphore.run(() => hashAnyPassword(password))
  }

  /** Does not apply the rules for new passwords, because the hash may be older than the rules. */
  rehash(password: string): Promise<string> {
    return this.#semaphore.run(() => hashAnyPassword(password))
  }

  verify(passwordHash: string, password: string): Promise<boolean> {
    return this.#semaphore.run(() => verifyPassword(passwordHash, password))
  }

  /** Throws what `verify` would throw, for callers that have other work to do first. */
  checkRoom(): void {
    this.#semaphore.checkRoom()
  }

  stats(): ReturnType<Semaphore['stats']> {
    return this.#semaphore.stats()
  }
}

/** Leaves two of libuv's threads and one core to others. */
export function countPasswordThreads(
  threads = Number(process.env.UV_THREADPOOL_SIZE) || 4,
  cores = availableParallelism(),
): number {
  return Math.max(1, Math.min(threads - 2, cores - 1))
}

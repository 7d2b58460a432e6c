// All password hashing of the server: a few at once, a few more waiting, the rest refused. Each takes 19 MiB and some 10 ms of a
// core, on threads that the file system and name look-ups need as well, so a flood of log-ins must not have them all.

import { availableParallelism } from 'node:os'
import { Semaphore } from '../../base/semaphore.ts'
import { checkPassword, hashAnyPassword, verifyPassword } from '../password.ts'

export type PasswordQueueOptions = {
  /** Hashes computed at the same time. */
  readonly maxRunning?: number
  /** Callers that may wait for their turn. */
  readonly maxWaiting?: number
}

/** All methods throw 'unavailable' when too many wait already. */
export class PasswordQueue {
  readonly #semaphore: Semaphore

  constructor({ maxRunning = countPasswordThreads(), maxWaiting = 50 }: PasswordQueueOptions = {}) {
    const refusal = 'too many passwords are being checked'
    this.#semaphore = new Semaphore({ maxRunning, maxWaiting, refusal, retryAfterSeconds: 2 })
  }

  /** A PHC string with a salt of its own. Throws 'invalid' for a password that is too short or too long. */
  async hash(password: string): Promise<string> {
    await checkPassword(password)
    return this.#semaphore.run(() => hashAnyPassword(password))
  }

  /** For a password that an older hash was made of: no rule is applied to it. */
  rehash(password: string): Promise<string> {
    return this.#semaphore.run(() => hashAnyPassword(password))
  }

  verify(passwordHash: string, password: string): Promise<boolean> {
    return this.#semaphore.run(() => verifyPassword(passwordHash, password))
  }

  /** Throws what `verify` would throw, for callers that have other work to do before. */
  checkRoom(): void {
    this.#semaphore.checkRoom()
  }

  stats(): ReturnType<Semaphore['stats']> {
    return this.#semaphore.stats()
  }
}

/** Leaves two of libuv's threads to others, and a core to the thread that serves them. */
export function countPasswordThreads(
  threads = Number(process.env.UV_THREADPOOL_SIZE) || 4,
  cores = availableParallelism(),
): number {
  return Math.max(1, Math.min(threads - 2, cores - 1))
}

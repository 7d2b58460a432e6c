// Runs all password hashing of the server: a few at once, a few waiting, the rest is refused. Each takes 19 MiB and
// about 10 ms of a core on threads that the file system and name lookups need too, so many sign-ins must not occupy all
// of them. Those who wait take turns by client, and people the server knows do not wait behind strangers.

import { availableParallelism } from 'node:os'
import { AppError } from '../../base/error.ts'
import { checkPassword, hashAnyPassword, verifyPassword } from '../password.ts'

export type PasswordQueueOptions = {
  /** The number of hashes computed at the same time. */
  readonly maxRunning?: number
  /** The number of strangers that may wait, and of known clients. */
  readonly maxWaiting?: number
}

/**
 * Who wants a password checked. `isKnown`: the client has proved with more than the password that it belongs to an
 * account: with a session, a link, or a browser that has signed in before. `name` tells clients apart.
 */
export type PasswordClient = { readonly name: string; readonly isKnown: boolean }

type Waiting = { begin(): void; refuse(): void }

const somebodyKnown: PasswordClient = { name: '', isKnown: true }

/** All methods throw 'unavailable' if too many callers are waiting. */
export class PasswordQueue {
  readonly #maxRunning: number
  readonly #known: Lane
  readonly #strangers: Lane
  #running = 0
  #refused = 0
  #isTurnOfStrangers = false

  constructor(options: PasswordQueueOptions = {}) {
    const { maxRunning = countPasswordThreads(), maxWaiting = 50 } = options
    this.#maxRunning = maxRunning
    this.#known = new Lane(maxWaiting)
    this.#strangers = new Lane(maxWaiting)
  }

  /** Returns a PHC string with its own salt. Throws 'invalid' for a password that is too short or too long. */
  async hash(password: string): Promise<string> {
    await checkPassword(password)
    return this.#run(somebodyKnown, () => hashAnyPassword(password))
  }

  /** Does not apply the rules for new passwords, because the hash may be older than the rules. */
  rehash(password: string): Promise<string> {
    return this.#run(somebodyKnown, () => hashAnyPassword(password))
  }

  verify(passwordHash: string, password: string, client = somebodyKnown): Promise<boolean> {
    return this.#run(client, () => verifyPassword(passwordHash, password))
  }

  /** Throws what `verify` would throw, for callers that have other work to do first. */
  checkRoom(client: PasswordClient): void {
    if (this.#running >= this.#maxRunning && !this.#laneOf(client).hasRoomFor(client.name)) throw this.#refuse()
  }

  stats(): { readonly running: number; readonly waiting: number; readonly refused: number } {
    return { running: this.#running, waiting: this.#known.size + this.#strangers.size, refused: this.#refused }
  }

  async #run<T>(client: PasswordClient, work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#maxRunning) this.#running++
    else await this.#wait(client)
    try {
      return await work()
    } finally {
      // The place is passed on, so that a new caller cannot overtake those that wait.
      const next = this.#next()
      if (next) next.begin()
      else this.#running--
    }
  }

  #wait(client: PasswordClient): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = { begin: resolve, refuse: () => reject(this.#refuse()) }
      if (!this.#laneOf(client).add(client.name, waiting)) waiting.refuse()
    })
  }

  /** The lanes take turns. */
  #next(): Waiting | undefined {
    this.#isTurnOfStrangers = !this.#isTurnOfStrangers
    const [first, second] = this.#isTurnOfStrangers ? [this.#strangers, this.#known] : [this.#known, this.#strangers]
    return first.take() ?? second.take()
  }

  #laneOf({ isKnown }: PasswordClient): Lane {
    return isKnown ? this.#known : this.#strangers
  }

  #refuse(): AppError {
    this.#refused++
    return new AppError('unavailable', 'too many passwords are being checked', { retryAfterSeconds: 2 })
  }
}

/** Those who wait. Clients take turns, and whoever has the most waiting gives way to others. */
class Lane {
  readonly #max: number
  /** Whose turn it is next comes first. */
  readonly #clients = new Map<string, Waiting[]>()
  size = 0

  constructor(max: number) {
    this.#max = max
  }

  hasRoomFor(name: string): boolean {
    return this.size < this.#max || this.#longest.length > (this.#clients.get(name)?.length ?? 0) + 1
  }

  /** Returns false if there is no room. */
  add(name: string, waiting: Waiting): boolean {
    if (!this.hasRoomFor(name)) return false
    if (this.size >= this.#max) {
      this.#longest.pop()!.refuse()
      this.size--
    }
    const own = this.#clients.get(name)
    if (own) own.push(waiting)
    else this.#clients.set(name, [waiting])
    this.size++
    return true
  }

  take(): Waiting | undefined {
    for (const [name, own] of this.#clients) {
      const waiting = own.shift()
      this.#clients.delete(name)
      if (own.length > 0) this.#clients.set(name, own)
      this.size--
      return waiting
    }
    return undefined
  }

  get #longest(): Waiting[] {
    return [...this.#clients.values()].reduce((most, each) => (each.length > most.length ? each : most), [])
  }
}

/** Leaves two of libuv's threads and one core to others. */
export function countPasswordThreads(
  threads = Number(process.env.UV_THREADPOOL_SIZE) || 4,
  cores = availableParallelism(),
): number {
  return Math.max(1, Math.min(threads - 2, cores - 1))
}

// Limits how many tasks run at once, per party and in total. Waiting tasks run in turn, party by party, so that a party
// with a thousand tasks delays only itself.

import { AppError } from './error.ts'

export type FairSemaphoreOptions = {
  readonly maxRunning: number
  /** Tasks of one party that run at once. */
  readonly maxRunningOfOne: number
  /** Tasks of one party that may wait; further ones are refused. */
  readonly maxWaitingOfOne: number
  /** Message of the refusal. */
  readonly refusal: string
  readonly retryAfterSeconds?: number
}

type Turn = PromiseWithResolvers<void>

type Party = { running: number; readonly waiting: Set<Turn> }

export class FairSemaphore<K> {
  readonly #options: FairSemaphoreOptions
  /** Parties with running or waiting tasks, least recently served first. */
  readonly #parties = new Map<K, Party>()
  #running = 0
  #waiting = 0
  #refused = 0

  constructor(options: FairSemaphoreOptions) {
    this.#options = options
  }

  stats(): { readonly running: number; readonly waiting: number; readonly refused: number } {
    return { running: this.#running, waiting: this.#waiting, refused: this.#refused }
  }

  /**
   * Runs `work` when it is its turn and returns its result. Throws 'unavailable' if too many tasks of the party wait,
   * and the signal's reason if it aborts while waiting; once started, `work` must watch the signal itself.
   */
  async run<T>(key: K, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted()
    const party = this.#parties.get(key) ?? { running: 0, waiting: new Set() }
    this.#parties.set(key, party)
    if (this.#hasRoom(party)) this.#start(key, party)
    else await this.#wait(key, party, signal)
    try {
      return await work()
    } finally {
      party.running--
      this.#running--
      this.#forgetIdle(key, party)
      this.#startNext()
    }
  }

  #hasRoom(party: Party): boolean {
    const { maxRunning, maxRunningOfOne } = this.#options
    return this.#running < maxRunning && party.running < maxRunningOfOne
  }

  /** Moves the party behind the others. */
  #start(key: K, party: Party): void {
    party.running++
    this.#running++
    this.#parties.delete(key)
    this.#parties.set(key, party)
  }

  async #wait(key: K, party: Party, signal: AbortSignal | undefined): Promise<void> {
    const { maxWaitingOfOne, refusal, retryAfterSeconds } = this.#options
    if (party.waiting.size >= maxWaitingOfOne) {
      this.#refused++
      throw new AppError('unavailable', refusal, retryAfterSeconds === undefined ? {} : { retryAfterSeconds })
    }
    const turn = Promise.withResolvers<void>()
    const leave = () => {
      // A slot that was just granted is not withdrawn; its task releases it.
      if (!party.waiting.delete(turn)) return
      this.#waiting--
      this.#forgetIdle(key, party)
      turn.reject(signal?.reason)
    }
    signal?.addEventListener('abort', leave, { once: true })
    party.waiting.add(turn)
    this.#waiting++
    try {
      await turn.promise
    } finally {
      signal?.removeEventListener('abort', leave)
    }
  }

  #startNext(): void {
    if (this.#waiting === 0) return
    for (const [key, party] of this.#parties) {
      const [turn] = party.waiting
      if (!turn || !this.#hasRoom(party)) continue
      party.waiting.delete(turn)
      this.#waiting--
      this.#start(key, party)
      turn.resolve()
      return
    }
  }

  #forgetIdle(key: K, party: Party): void {
    if (party.running === 0 && party.waiting.size === 0) this.#parties.delete(key)
  }
}

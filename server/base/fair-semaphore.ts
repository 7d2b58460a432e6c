// Lets so many run at once, of one party and in all. Those who wait are served in turn, party by party, so that whoever asks for a
// thousand things delays their own and nobody else's.

import { AppError } from './error.ts'

export type FairSemaphoreOptions = {
  readonly maxRunning: number
  /** Of one party. */
  readonly maxRunningOfOne: number
  /** Of one party; whoever comes when so many wait is refused. */
  readonly maxWaitingOfOne: number
  /** What they are told. */
  readonly refusal: string
  readonly retryAfterSeconds?: number
}

type Turn = PromiseWithResolvers<void>

type Party = { running: number; readonly waiting: Set<Turn> }

export class FairSemaphore<K> {
  readonly #options: FairSemaphoreOptions
  /** Those that run or wait; whoever was served longest ago comes first. */
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
   * What `work` gives, once it is its turn. Throws 'unavailable' when too many of the party wait, and the signal's reason when it aborts
   * before the turn; afterwards `work` itself has to heed it.
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

  /** Puts the party behind the others. */
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
      // A turn that has just come is not taken back: whoever got it gives it back.
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

// Items that wait for a user's next step, such as a consent question. The server keeps them and the browser gets only a
// random name. Storage is limited: when it is full, the user with the most items loses the oldest, so that nobody can
// displace the items of others.

import { randomBytes } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'

export type PendingItemsOptions = {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly lifetimeMs: number
  readonly maxEntries?: number
  readonly maxPerUser?: number
}

type Entry<T> = { readonly owner: string; readonly userId: number; readonly untilMs: number; readonly value: T }

export class PendingItems<T> {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #lifetimeMs: number
  readonly #maxEntries: number
  readonly #maxPerUser: number
  readonly #entries = new Map<string, Entry<T>>()
  /** The names of each user's items, oldest first. */
  readonly #namesByUser = new Map<number, Set<string>>()

  constructor({ clock, lifetimeMs, maxEntries = 5000, maxPerUser = 100 }: PendingItemsOptions) {
    this.#clock = clock
    this.#lifetimeMs = lifetimeMs
    this.#maxEntries = maxEntries
    this.#maxPerUser = maxPerUser
  }

  /** Returns a name for the item. Only the same `owner` can find it. */
  put(owner: string, userId: number, value: T): string {
    const name = randomBytes(12).toString('base64url')
    const names = this.#namesByUser.get(userId) ?? new Set()
    this.#namesByUser.set(userId, names.add(name))
    this.#entries.set(name, { owner, userId, untilMs: this.#clock.monotonicMs() + this.#lifetimeMs, value })
    if (names.size > this.#maxPerUser) this.#remove(first(names))
    if (this.#entries.size > this.#maxEntries) this.#remove(first(this.#findLargest()))
    return name
  }

  /** Returns undefined if the item does not exist, belongs to another owner or has expired. */
  find(owner: string, name: string): T | undefined {
    const entry = this.#entries.get(name)
    if (!entry || entry.owner !== owner) return undefined
    if (this.#clock.monotonicMs() < entry.untilMs) return entry.value
    this.#remove(name)
    return undefined
  }

  /** Finds the item and removes it. */
  take(owner: string, name: string): T | undefined {
    const value = this.find(owner, name)
    if (value !== undefined) this.#remove(name)
    return value
  }

  get size(): number {
    return this.#entries.size
  }

  #findLargest(): Set<string> {
    let largest = new Set<string>()
    for (const names of this.#namesByUser.values()) if (names.size > largest.size) largest = names
    return largest
  }

  #remove(name: string): void {
    const { userId } = this.#entries.get(name)!
    this.#entries.delete(name)
    const names = this.#namesByUser.get(userId)!
    names.delete(name)
    if (names.size === 0) this.#namesByUser.delete(userId)
  }
}

function first(names: Iterable<string>): string {
  for (const name of names) return name
  throw new Error('there are no items')
}

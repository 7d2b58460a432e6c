// What a browser is in the middle of, kept here while its user signs in or decides: the browser gets a name for it and nothing it
// could change. In memory, and bounded: strangers make entries, and must not be able to fill a disk or push out everybody else's.

import { randomBytes } from 'node:crypto'
import { addressBlock } from '../../auth/guard/address-block.ts'
import type { Clock } from '../../base/clock.ts'

export type KeptOptions = {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly lifetimeMs: number
  readonly maxEntries?: number
  readonly maxPerAddress?: number
}

type Entry<T> = { readonly owner: string; readonly block: string; readonly untilMs: number; readonly value: T }

export class Kept<T> {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #lifetimeMs: number
  readonly #maxEntries: number
  readonly #maxPerAddress: number
  /** Oldest first, as are the names of each address. */
  readonly #entries = new Map<string, Entry<T>>()
  readonly #namesByBlock = new Map<string, Set<string>>()

  constructor({ clock, lifetimeMs, maxEntries = 5000, maxPerAddress = 100 }: KeptOptions) {
    this.#clock = clock
    this.#lifetimeMs = lifetimeMs
    this.#maxEntries = maxEntries
    this.#maxPerAddress = maxPerAddress
  }

  /** The name to find it by. `owner`: whose it is; nobody else finds it. */
  put(owner: string, ip: string, value: T): string {
    const name = randomBytes(12).toString('base64url')
    const block = addressBlock(ip)
    const names = this.#namesByBlock.get(block) ?? new Set()
    this.#namesByBlock.set(block, names.add(name))
    this.#entries.set(name, { owner, block, untilMs: this.#clock.monotonicMs() + this.#lifetimeMs, value })
    if (names.size > this.#maxPerAddress) this.#remove(first(names))
    if (this.#entries.size > this.#maxEntries) this.#remove(first(this.#entries.keys()))
    return name
  }

  /** Undefined when it was never there, is another's, or was too long ago. */
  find(owner: string, name: string): T | undefined {
    const entry = this.#entries.get(name)
    if (!entry || entry.owner !== owner) return undefined
    if (this.#clock.monotonicMs() < entry.untilMs) return entry.value
    this.#remove(name)
    return undefined
  }

  /** As `find`, once. */
  take(owner: string, name: string): T | undefined {
    const value = this.find(owner, name)
    if (value !== undefined) this.#remove(name)
    return value
  }

  get size(): number {
    return this.#entries.size
  }

  #remove(name: string): void {
    const { block } = this.#entries.get(name)!
    this.#entries.delete(name)
    const names = this.#namesByBlock.get(block)!
    names.delete(name)
    if (names.size === 0) this.#namesByBlock.delete(block)
  }
}

function first(names: Iterable<string>): string {
  for (const name of names) return name
  throw new Error('nothing is kept')
}

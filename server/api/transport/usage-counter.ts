// Counts how much of a limited resource (connections, streams, bytes) each client holds. A client gets at most as much as
// is left for all others, so a client that takes as much as possible leaves half.

export type UsageLimits = {
  /** Limit of all clients together. */
  readonly max: number
  readonly maxOfOne: number
}

export class UsageCounter {
  readonly #limits: UsageLimits
  readonly #held = new Map<string, number>()
  #total = 0

  constructor(limits: UsageLimits) {
    this.#limits = limits
  }

  get total(): number {
    return this.#total
  }

  /** Number of clients that hold something. */
  get size(): number {
    return this.#held.size
  }

  /** Returns false, and takes nothing, if `key` would exceed its limit. */
  take(key: string, count = 1): boolean {
    const { max, maxOfOne } = this.#limits
    const held = (this.#held.get(key) ?? 0) + count
    if (held > Math.min(maxOfOne, max - this.#total)) return false
    this.#held.set(key, held)
    this.#total += count
    return true
  }

  /** Of what was taken. */
  give(key: string, count = 1): void {
    const left = this.#held.get(key)! - count
    if (left > 0) this.#held.set(key, left)
    else this.#held.delete(key)
    this.#total -= count
  }
}

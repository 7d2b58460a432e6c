// The most recently used resources, a fixed number of them; the others are disposed of.

export class LruCache<K, V extends Disposable> {
  readonly #maxEntries: number
  /** Oldest use first. */
  readonly #entries = new Map<K, V>()

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries
  }

  /** The entry, created when it is not there. */
  get(key: K, create: () => V): V {
    const value = this.#entries.get(key) ?? create()
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size > this.#maxEntries) {
      const [oldest, unused] = this.#entries.entries().next().value!
      this.#entries.delete(oldest)
      unused[Symbol.dispose]()
    }
    return value
  }

  /** Disposes of the entry, if there is one. */
  forget(key: K): void {
    const value = this.#entries.get(key)
    this.#entries.delete(key)
    value?.[Symbol.dispose]()
  }
}

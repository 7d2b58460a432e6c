// A cache of a fixed number of resources that disposes of the least recently used ones.

export class LruCache<K, V extends Disposable> {
  readonly #maxEntries: number
  /** Least recently used first. */
  readonly #entries = new Map<K, V>()

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries
  }

  /** Returns the entry, or creates it if it is missing. */
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

  /** Removes the entry and disposes of it, if there is one. */
  remove(key: K): void {
    const value = this.#entries.get(key)
    this.#entries.delete(key)
    value?.[Symbol.dispose]()
  }
}

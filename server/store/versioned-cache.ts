// Values derived from the store, kept while the store does not change. No expiry, no invalidation by key.

export type VersionedSource = {
  /** Grows with every change; see change-feed.ts. */
  readonly version: number
}

export type VersionedCacheOptions<V> = {
  /** When full, the oldest entry goes. */
  readonly maxEntries: number
  /** Asked of what was read; default: everything is. */
  readonly isKept?: (value: V) => boolean
}

/** Values must not be `undefined`. For the hot path: `get` is one comparison and one look-up. */
export class VersionedCache<K, V> {
  readonly #source: VersionedSource
  readonly #maxEntries: number
  readonly #isKept: (value: V) => boolean
  readonly #values = new Map<K, V>()
  readonly #loading = new Map<K, Promise<V>>()
  #version = 0

  constructor(source: VersionedSource, { maxEntries, isKept = () => true }: VersionedCacheOptions<V>) {
    this.#source = source
    this.#maxEntries = maxEntries
    this.#isKept = isKept
  }

  /** The value loaded at the present version, or undefined. */
  get(key: K): V | undefined {
    if (this.#version !== this.#source.version) this.#forget()
    return this.#values.get(key)
  }

  /** The value from memory or from `read`; one `read` at a time and key. A result of `undefined` is not kept. */
  async load(key: K, read: () => Promise<V>): Promise<V> {
    const known = this.get(key)
    if (known !== undefined) return known
    let loading = this.#loading.get(key)
    if (!loading) {
      loading = this.#read(key, read)
      this.#loading.set(key, loading)
    }
    return loading
  }

  async #read(key: K, read: () => Promise<V>): Promise<V> {
    const version = this.#source.version
    try {
      const value = await read()
      // A change in the meantime: the value may mix old and new, so it serves those who waited and nobody after them.
      if (value !== undefined && version === this.#source.version && this.#isKept(value)) this.#keep(key, value)
      return value
    } finally {
      if (this.#version === version) this.#loading.delete(key)
    }
  }

  #keep(key: K, value: V): void {
    if (this.#version !== this.#source.version) this.#forget()
    if (this.#values.size >= this.#maxEntries) this.#values.delete(this.#values.keys().next().value!)
    this.#values.set(key, value)
  }

  #forget(): void {
    this.#values.clear()
    this.#loading.clear()
    this.#version = this.#source.version
  }
}

// Values derived from the store, kept while the store does not change. No expiry, no invalidation by key.

export type VersionedSource = {
  /** Grows with every change; see change-feed.ts. */
  readonly version: number
}

export type VersionedCacheOptions<K, V> = {
  /** When full, the oldest entry goes. */
  readonly maxEntries: number
  /** For values that are not of a small fixed size. */
  readonly bytes?: CacheBytes<K, V>
}

type CacheBytes<K, V> = {
  /** Of all keys and values; beyond that the oldest go. */
  readonly max: number
  /** An entry of more is not kept: it would push out too many others. */
  readonly maxOfOne: number
  readonly sizeOf: (key: K, value: V) => number
}

/** Values must not be `undefined`. For the hot path: `get` is one comparison and one look-up. */
export class VersionedCache<K, V> {
  readonly #source: VersionedSource
  readonly #maxEntries: number
  readonly #sizes: CacheBytes<K, V> | undefined
  readonly #values = new Map<K, V>()
  readonly #loading = new Map<K, Promise<V>>()
  #bytes = 0
  #version = 0

  constructor(source: VersionedSource, { maxEntries, bytes }: VersionedCacheOptions<K, V>) {
    this.#source = source
    this.#maxEntries = maxEntries
    this.#sizes = bytes
  }

  /** Of all entries; 0 where they have no sizes. */
  get bytes(): number {
    return this.#bytes
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
      if (value !== undefined && version === this.#source.version) this.#keep(key, value)
      return value
    } finally {
      if (this.#version === version) this.#loading.delete(key)
    }
  }

  #keep(key: K, value: V): void {
    if (this.#version !== this.#source.version) this.#forget()
    const { max, maxOfOne, sizeOf } = this.#sizes ?? unsized
    const bytes = sizeOf(key, value)
    if (bytes > maxOfOne) return
    for (const [oldest, old] of this.#values) {
      if (this.#values.size < this.#maxEntries && this.#bytes + bytes <= max) break
      this.#values.delete(oldest)
      this.#bytes -= sizeOf(oldest, old)
    }
    this.#values.set(key, value)
    this.#bytes += bytes
  }

  #forget(): void {
    this.#values.clear()
    this.#loading.clear()
    this.#bytes = 0
    this.#version = this.#source.version
  }
}

const unsized: CacheBytes<unknown, unknown> = { max: 0, maxOfOne: 0, sizeOf: () => 0 }

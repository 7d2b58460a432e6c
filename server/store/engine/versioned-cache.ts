// Caches values derived from the store until the store changes. There is no expiry and no invalidation by key.

export type VersionedSource = {
  /** Incremented by every change; see change-feed.ts. */
  readonly version: number
}

export type VersionedCacheOptions<K, V> = {
  /** When the cache is full, the oldest entry is evicted. */
  readonly maxEntries: number
  /** For values of varying size. */
  readonly bytes?: CacheBytes<K, V>
}

type CacheBytes<K, V> = {
  /** Maximum size of all keys and values; the oldest entries are evicted. */
  readonly max: number
  /** Larger entries are not cached, because they would evict too many others. */
  readonly maxOfOne: number
  readonly sizeOf: (key: K, value: V) => number
}

/** Values must not be `undefined`. Fast enough for hot paths: `get` is one comparison and one lookup. */
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

  /** Size of all entries; 0 if entries have no sizes. */
  get bytes(): number {
    return this.#bytes
  }

  /** The value that was loaded at the present version, or undefined. */
  get(key: K): V | undefined {
    if (this.#version !== this.#source.version) this.#forget()
    return this.#values.get(key)
  }

  /** The cached value, or the result of `read`, which runs once at a time per key. `undefined` is not cached. */
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
      // The store changed meanwhile: the value may mix old and new data, so only present waiters get it.
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

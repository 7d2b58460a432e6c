// Blocks of remote files in memory, so that the many small reads of playback become few requests. Callers of the same block
// share one request.

import type { FootageFile } from '../place-files.ts'

/** Small enough for a slow line, large enough that a request is worth it. */
export const blockBytes = 2 ** 20

export type BlockSource = {
  /** Unique for its content. */
  readonly key: string
  /** At most `bytes` from `at` on; fewer at the end of the object. */
  fetch(at: number, bytes: number): Promise<Uint8Array>
}

type Block = { readonly data: Promise<Uint8Array>; bytes: number }

export class BlockCache {
  readonly #maxBytes: number
  /** Least recently used first. */
  readonly #blocks = new Map<string, Block>()
  #usedBytes = 0
  #requests = 0
  #hits = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Copies bytes from `at` on into `target`. Returns how many: fewer only at the end of the object. */
  async read(source: BlockSource, at: number, target: Uint8Array): Promise<number> {
    let filled = 0
    while (filled < target.length) {
      const index = Math.floor((at + filled) / blockBytes)
      const start = at + filled - index * blockBytes
      const block = await this.#load(source, index)
      const bytes = block.subarray(start, start + target.length - filled)
      target.set(bytes, filled)
      filled += bytes.length
      if (block.length < blockBytes) break
    }
    return filled
  }

  /** Loads the block behind these bytes if it is not there yet. Errors are left to whoever needs it. */
  readAhead(source: BlockSource, end: number): void {
    this.#load(source, Math.floor(end / blockBytes) + 1).catch(() => {})
  }

  stats(): { readonly bytes: number; readonly requests: number; readonly hits: number } {
    return { bytes: this.#usedBytes, requests: this.#requests, hits: this.#hits }
  }

  #load(source: BlockSource, index: number): Promise<Uint8Array> {
    const key = `${source.key} ${index}`
    const known = this.#blocks.get(key)
    if (known) {
      this.#hits++
      this.#blocks.delete(key)
      this.#blocks.set(key, known)
      return known.data
    }
    this.#requests++
    const block: Block = { data: source.fetch(index * blockBytes, blockBytes), bytes: blockBytes }
    this.#blocks.set(key, block)
    this.#usedBytes += block.bytes
    block.data.then(
      ({ length }) => {
        if (this.#blocks.get(key) !== block) return
        this.#usedBytes += length - block.bytes
        block.bytes = length
      },
      () => this.#drop(key, block),
    )
    this.#limit()
    return block.data
  }

  #limit(): void {
    for (const [key, block] of this.#blocks) {
      if (this.#usedBytes <= this.#maxBytes || this.#blocks.size === 1) return
      this.#drop(key, block)
    }
  }

  #drop(key: string, block: Block): void {
    if (this.#blocks.get(key) !== block) return
    this.#blocks.delete(key)
    this.#usedBytes -= block.bytes
  }
}

/** A file of which parts are fetched. `find`: its size; throws 'not_found' and 'unavailable'. */
export class CachedFile implements FootageFile {
  readonly #source: BlockSource
  readonly #cache: BlockCache
  readonly #find: () => Promise<{ readonly size: number }>
  /** Where the last read ended. */
  #end = 0

  constructor(source: BlockSource, cache: BlockCache, find: () => Promise<{ readonly size: number }>) {
    this.#source = source
    this.#cache = cache
    this.#find = find
  }

  async read(target: Uint8Array, offset: number, length: number, at: number): Promise<{ bytesRead: number }> {
    const bytesRead = await this.#cache.read(this.#source, at, target.subarray(offset, offset + length))
    // Who reads on across blocks will need the next one too.
    const isSequential = at === this.#end && Math.floor(at / blockBytes) < Math.floor((at + bytesRead) / blockBytes)
    this.#end = at + bytesRead
    if (isSequential && bytesRead === length) this.#cache.readAhead(this.#source, this.#end)
    return { bytesRead }
  }

  async readv(views: readonly Uint8Array[], at: number): Promise<{ bytesRead: number }> {
    let bytesRead = 0
    for (const view of views) {
      const { bytesRead: bytes } = await this.read(view, 0, view.length, at + bytesRead)
      bytesRead += bytes
      if (bytes < view.length) break
    }
    return { bytesRead }
  }

  stat(): Promise<{ readonly size: number }> {
    return this.#find()
  }

  async close(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}
}

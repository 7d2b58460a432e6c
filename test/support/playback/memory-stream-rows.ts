// Rows of recorded streams in memory, for tests. The real ones are in server/store.

import type { StreamChange, StreamRow, StreamRows } from '../../../server/playback/stream-rows.ts'

export class MemoryStreamRows implements StreamRows {
  readonly #rows = new Map<string, StreamRow>()

  async insert(stream: StreamRow): Promise<void> {
    this.#rows.set(keyOf(stream.hash), stream)
  }

  async find(hash: Uint8Array): Promise<StreamRow | undefined> {
    return this.#rows.get(keyOf(hash))
  }

  async update(hash: Uint8Array, values: StreamChange, version?: number): Promise<boolean> {
    const row = await this.find(hash)
    if (!row || (version !== undefined && row.version !== version)) return false
    const next = version === undefined ? {} : { version: version + 1 }
    this.#rows.set(keyOf(hash), { ...row, ...values, ...next })
    return true
  }

  async removeOldest(userId: number, count: number, newest: Uint8Array): Promise<Uint8Array[]> {
    const others = [...this.#rows.values()].filter((row) => row.userId === userId && keyOf(row.hash) !== keyOf(newest))
    const old = others.sort((a, b) => b.createdAtMs - a.createdAtMs).slice(count - 1)
    for (const { hash } of old) this.#rows.delete(keyOf(hash))
    return old.map(({ hash }) => hash)
  }

  async removeExpired(createdBeforeMs: number): Promise<void> {
    for (const [key, { createdAtMs }] of this.#rows) if (createdAtMs < createdBeforeMs) this.#rows.delete(key)
  }
}

function keyOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString('hex')
}

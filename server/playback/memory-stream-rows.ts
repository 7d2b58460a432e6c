// The rows of recorded streams in memory, for tests. The real ones are in server/store.

import type { StreamRow, StreamRows } from './stream-rows.ts'

export class MemoryStreamRows implements StreamRows {
  readonly #rows = new Map<string, StreamRow>()

  async insert(stream: StreamRow): Promise<void> {
    this.#rows.set(keyOf(stream.hash), stream)
  }

  async find(hash: Uint8Array): Promise<StreamRow | undefined> {
    return this.#rows.get(keyOf(hash))
  }

  async update(hash: Uint8Array, values: Partial<StreamRow>): Promise<void> {
    const row = await this.find(hash)
    if (row) this.#rows.set(keyOf(hash), { ...row, ...values })
  }

  async removeExpired(createdBeforeMs: number): Promise<void> {
    for (const [key, { createdAtMs }] of this.#rows) if (createdAtMs < createdBeforeMs) this.#rows.delete(key)
  }
}

function keyOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString('hex')
}

// The rows of recorded streams in memory, for tests. The real ones are in server/store.

import type { StreamRow, StreamRows } from './stream-rows.ts'

export class MemoryStreamRows implements StreamRows {
  readonly #rows = new Map<string, StreamRow>()

  async insert(stream: StreamRow): Promise<void> {
    this.#rows.set(stream.id, stream)
  }

  async find(id: string): Promise<StreamRow | undefined> {
    return this.#rows.get(id)
  }

  async update(id: string, values: Partial<StreamRow>): Promise<void> {
    const row = this.#rows.get(id)
    if (row) this.#rows.set(id, { ...row, ...values })
  }

  async removeExpired(createdBeforeMs: number): Promise<void> {
    for (const [id, { createdAtMs }] of this.#rows) if (createdAtMs < createdBeforeMs) this.#rows.delete(id)
  }
}

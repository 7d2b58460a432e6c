// The rows of the archive in memory, for tests. The real ones are in server/store/segments.ts.

import type { Segment } from '../model/segment.ts'
import type { OpenSegment } from './segment-file.ts'
import type { SegmentRows } from './segment-rows.ts'

export class MemorySegmentRows implements SegmentRows {
  readonly #rows = new Map<number, Segment>()
  readonly #garbage = new Map<number, string>()
  #lastId = 0

  get all(): Segment[] {
    return [...this.#rows.values()]
  }

  async insertOpen(segment: OpenSegment): Promise<number> {
    const id = ++this.#lastId
    const { startMs, initBytes } = segment
    this.#rows.set(id, { ...segment, id, endMs: startMs, bytes: initBytes, fragments: [], isClosed: false })
    return id
  }

  async close(id: number, values: Pick<Segment, 'endMs' | 'bytes' | 'fragments'>): Promise<void> {
    this.#rows.set(id, { ...this.#rows.get(id)!, ...values, isClosed: true })
  }

  async listOpen(): Promise<Segment[]> {
    return this.all.filter(({ isClosed }) => !isClosed)
  }

  async listBetween(cameraId: number, startMs: number, endMs: number): Promise<Segment[]> {
    return this.#closed(cameraId).filter((s) => s.startMs < endMs && s.endMs > startMs)
  }

  listSpans(cameraId: number, startMs: number, endMs: number): Promise<Segment[]> {
    return this.listBetween(cameraId, startMs, endMs)
  }

  async find(id: number): Promise<Segment | undefined> {
    return this.#rows.get(id)
  }

  async findBounds(cameraId: number): Promise<{ startMs: number; endMs: number } | undefined> {
    const closed = this.#closed(cameraId)
    return closed[0] && { startMs: closed[0].startMs, endMs: closed.at(-1)!.endMs }
  }

  async listOldest(cameraId: number, beforeMs: number, limit: number): Promise<Segment[]> {
    return this.#closed(cameraId)
      .filter(({ endMs }) => endMs <= beforeMs)
      .slice(0, limit)
  }

  async listCameraIds(): Promise<number[]> {
    return [...new Set(this.all.map(({ cameraId }) => cameraId))]
  }

  async sumBytes(cameraId: number): Promise<number> {
    return this.#closed(cameraId).reduce((sum, { bytes }) => sum + bytes, 0)
  }

  async listAfter(id: number, limit: number): Promise<Segment[]> {
    return this.all.filter((s) => s.id > id).slice(0, limit)
  }

  async markGarbage(ids: readonly number[]): Promise<void> {
    for (const id of ids) {
      this.#garbage.set(id, this.#rows.get(id)!.path)
      this.#rows.delete(id)
    }
  }

  async listGarbage(limit: number): Promise<{ id: number; path: string }[]> {
    return [...this.#garbage].slice(0, limit).map(([id, path]) => ({ id, path }))
  }

  async remove(ids: readonly number[]): Promise<void> {
    for (const id of ids) this.#garbage.delete(id)
  }

  #closed(cameraId: number): Segment[] {
    return this.all.filter((s) => s.cameraId === cameraId && s.isClosed).sort((a, b) => a.startMs - b.startMs)
  }
}

// The rows of the archive in memory, for tests. The real ones are in server/store/segments.ts.

import type { Segment } from '../model/segment.ts'
import type { ClosedValues, FootageUsage, Garbage, OldestQuery, OpenSegment } from '../model/segment-views.ts'
import type { SegmentRows } from './segment-rows.ts'

export class MemorySegmentRows implements SegmentRows {
  readonly #rows = new Map<number, Segment>()
  readonly #garbage = new Map<number, string>()
  readonly #usage = new Map<number, { bytes: number; segments: number }>()
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

  async close(id: number, { checksum, ...values }: ClosedValues): Promise<void> {
    const before = this.#rows.get(id)
    if (!before) return
    const { checksum: _, ...kept } = before
    this.#rows.set(id, { ...kept, ...values, isClosed: true, ...(checksum !== undefined && { checksum }) })
    const bytes = before.isClosed ? values.bytes - before.bytes : values.bytes
    this.#count(before.cameraId, bytes, before.isClosed ? 0 : 1)
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

  async findNext(cameraId: number, startMs: number): Promise<Segment | undefined> {
    return this.#ordered(cameraId).find((s) => s.startMs >= startMs)
  }

  async findNewest(cameraId: number): Promise<Segment | undefined> {
    return this.#ordered(cameraId).at(-1)
  }

  async listFiles(cameraId: number, startMs: number, endMs: number): Promise<Segment[]> {
    return this.#ordered(cameraId).filter((s) => s.startMs >= startMs && s.startMs < endMs)
  }

  async listOldest(cameraId: number, { limit, after }: OldestQuery): Promise<Segment[]> {
    return this.#closed(cameraId)
      .filter((s) => !after || s.startMs > after.startMs || (s.startMs === after.startMs && s.id > after.id))
      .slice(0, limit)
  }

  async listCameraIds(): Promise<number[]> {
    return [...new Set(this.all.map(({ cameraId }) => cameraId))]
  }

  async listUsage(): Promise<FootageUsage[]> {
    return [...this.#usage].filter(([, of]) => of.segments > 0).map(([cameraId, of]) => ({ cameraId, ...of }))
  }

  async sumBytes(cameraId: number, startMs: number, endMs: number): Promise<number> {
    return (await this.listBetween(cameraId, startMs, endMs)).reduce((sum, { bytes }) => sum + bytes, 0)
  }

  async sumUsage(cameraId: number): Promise<FootageUsage> {
    const closed = this.#closed(cameraId)
    return { cameraId, bytes: closed.reduce((sum, { bytes }) => sum + bytes, 0), segments: closed.length }
  }

  async recount(cameraId: number): Promise<void> {
    this.#usage.set(cameraId, await this.sumUsage(cameraId))
  }

  async markGarbage(ids: readonly number[]): Promise<Garbage[]> {
    const found = ids.map((id) => this.#rows.get(id)).filter((segment) => segment !== undefined)
    for (const { id, path, cameraId, bytes, isClosed } of found) {
      this.#garbage.set(id, path)
      this.#rows.delete(id)
      if (isClosed) this.#count(cameraId, -bytes, -1)
    }
    return found.map(({ id, path }) => ({ id, path }))
  }

  async sync(): Promise<void> {}

  async listGarbage(limit: number): Promise<Garbage[]> {
    return [...this.#garbage].slice(0, limit).map(([id, path]) => ({ id, path }))
  }

  async remove(ids: readonly number[]): Promise<void> {
    for (const id of ids) this.#garbage.delete(id)
  }

  #ordered(cameraId: number): Segment[] {
    return this.all.filter((s) => s.cameraId === cameraId).sort((a, b) => a.startMs - b.startMs || a.id - b.id)
  }

  #closed(cameraId: number): Segment[] {
    return this.#ordered(cameraId).filter((s) => s.isClosed)
  }

  #count(cameraId: number, bytes: number, segments: number): void {
    const before = this.#usage.get(cameraId) ?? { bytes: 0, segments: 0 }
    this.#usage.set(cameraId, { bytes: before.bytes + bytes, segments: before.segments + segments })
  }
}

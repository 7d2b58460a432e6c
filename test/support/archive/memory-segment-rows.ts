// The rows of the archive in memory, for tests. The real ones are in server/store/footage/segments.ts.

import type { GapReason } from '../../../contract/gap-reasons.ts'
import type { SegmentRows } from '../../../server/archive/segment-rows.ts'
import { type ClockEpochStart, compareRecorded, findEpoch, lastEpoch } from '../../../server/model/clock-epoch.ts'
import { listHoles } from '../../../server/model/footage-hole.ts'
import type { Segment } from '../../../server/model/segment.ts'
import type {
  ClosedValues,
  CopyOwner,
  FileLocation,
  FootageBounds,
  FootageUsage,
  LastSegment,
  OldestQuery,
  OpenSegment,
  PendingDeletion,
  SegmentSpan,
} from '../../../server/model/segment-views.ts'

export class MemorySegmentRows implements SegmentRows {
  readonly #rows = new Map<number, Segment>()
  readonly #copies = new Map<string, { copy: FileLocation; owner: CopyOwner }>()
  readonly #pendingDeletions = new Map<number, PendingDeletion>()
  /** By camera and place. */
  readonly #usage = new Map<string, FootageUsage>()
  readonly #epochs = new Map<number, ClockEpochStart[]>()
  #lastId = 0
  /** Of every camera. */
  lease: { readonly epoch: number; readonly takenMs: number } | undefined

  get all(): Segment[] {
    return [...this.#rows.values()]
  }

  async insertOpen(segment: OpenSegment, epoch?: number): Promise<number> {
    const id = ++this.#lastId
    if (epoch !== undefined) {
      const starts = this.#epochs.get(segment.cameraId) ?? []
      const last = lastEpoch(starts)
      this.#epochs.set(segment.cameraId, [
        ...starts,
        { fromId: id, epoch },
        ...(epoch < last ? [{ fromId: id + 1, epoch: last }] : []),
      ])
    }
    const { startMs, initBytes } = segment
    this.#rows.set(id, { ...segment, id, endMs: startMs, bytes: initBytes, fragments: [], isClosed: false })
    return id
  }

  async close(id: number, { checksum, path, ...values }: ClosedValues): Promise<boolean> {
    const before = this.#rows.get(id)
    if (!before || (path !== undefined && before.path !== path)) return false
    const { checksum: _, ...kept } = before
    this.#rows.set(id, { ...kept, ...values, isClosed: true, ...(checksum !== undefined && { checksum }) })
    const bytes = before.isClosed ? values.bytes - before.bytes : values.bytes
    this.#count(before, bytes, before.isClosed ? 0 : 1)
    return true
  }

  /** As if the server had ended before it closed the segment. */
  async reopen(id: number): Promise<void> {
    const before = this.#rows.get(id)!
    const { checksum: _, ...kept } = before
    this.#rows.set(id, { ...kept, endMs: kept.startMs, bytes: kept.initBytes, fragments: [], isClosed: false })
    this.#count(before, -before.bytes, -1)
  }

  async correctGapReason(id: number, before: readonly GapReason[], gapReason: GapReason): Promise<void> {
    const row = this.#rows.get(id)
    if (row && before.some((each) => each === row.gapReason)) this.#rows.set(id, { ...row, gapReason })
  }

  async listOpen(): Promise<Segment[]> {
    return this.all.filter(({ isClosed }) => !isClosed)
  }

  async listBetween(cameraId: number, startMs: number, endMs: number): Promise<Segment[]> {
    return this.#closed(cameraId).filter((s) => s.startMs < endMs && s.endMs > startMs)
  }

  async listSpans(cameraId: number, startMs: number, endMs: number): Promise<SegmentSpan[]> {
    const segments = await this.listBetween(cameraId, startMs, endMs)
    return segments.map((segment) => ({ ...segment, holes: listHoles(segment.fragments) }))
  }

  async hasAudio(cameraId: number, startMs: number, endMs: number): Promise<boolean> {
    return (await this.listBetween(cameraId, startMs, endMs)).some(({ codecs }) => codecs.includes(','))
  }

  async find(id: number): Promise<Segment | undefined> {
    const segment = this.#rows.get(id)
    return segment && this.#withEpoch(segment.cameraId, segment)
  }

  async findBounds(cameraId: number): Promise<FootageBounds | undefined> {
    const closed = this.#closed(cameraId)
    const oldest = closed[0]
    const newest = closed.at(-1)
    if (!oldest || !newest) return undefined
    const isOneEpoch = (this.#epochs.get(cameraId) ?? []).length === 0
    if (isOneEpoch) return { startMs: oldest.startMs, endMs: newest.endMs }
    return {
      startMs: Math.min(...closed.map(({ startMs }) => startMs)),
      endMs: Math.max(...closed.map(({ endMs }) => endMs)),
      oldest: { epoch: oldest.epoch ?? 0, startMs: oldest.startMs },
      newest: { epoch: newest.epoch ?? 0, endMs: newest.endMs },
    }
  }

  async findLast(cameraId: number): Promise<LastSegment | undefined> {
    const last = this.#ordered(cameraId).at(-1)
    return last && { startMs: last.startMs, endMs: last.endMs, epoch: last.epoch ?? 0 }
  }

  async findLastEpoch(cameraId: number): Promise<number> {
    return lastEpoch(this.#epochs.get(cameraId) ?? [])
  }

  async removeClockEpochs(cameraId: number): Promise<void> {
    this.#epochs.delete(cameraId)
  }

  async findNext(cameraId: number, startMs: number): Promise<Segment | undefined> {
    return this.#ordered(cameraId)
      .filter((s) => s.startMs >= startMs)
      .toSorted((a, b) => a.startMs - b.startMs)[0]
  }

  async findNewest(cameraId: number): Promise<Segment | undefined> {
    return this.#ordered(cameraId).at(-1)
  }

  async findLease(): Promise<{ readonly epoch: number; readonly takenMs: number } | undefined> {
    return this.lease
  }

  async listFiles(cameraId: number, startMs: number, endMs: number): Promise<Segment[]> {
    return this.#ordered(cameraId).filter((s) => s.startMs >= startMs && s.startMs < endMs)
  }

  async listOldest(
    cameraId: number,
    { limit, after, placeId, endedByMs = Number.POSITIVE_INFINITY }: OldestQuery,
  ): Promise<Segment[]> {
    return this.#closed(cameraId)
      .filter((s) => (placeId === undefined || s.placeId === placeId) && s.endMs <= endedByMs)
      .filter((s) => !after || compareRecorded(s, this.#withEpoch(cameraId, after)) > 0)
      .slice(0, limit)
  }

  async listCameraIds(): Promise<number[]> {
    return [...new Set(this.all.map(({ cameraId }) => cameraId))]
  }

  async listUsage(): Promise<FootageUsage[]> {
    const all = [...this.#usage.values()].filter(({ segments }) => segments > 0)
    return all.sort((a, b) => a.cameraId - b.cameraId || a.placeId - b.placeId)
  }

  async sumBytes(cameraId: number, startMs: number, endMs: number, placeIds?: readonly number[]): Promise<number> {
    const some = await this.listBetween(cameraId, startMs, endMs)
    return some.reduce((sum, { bytes, placeId }) => sum + (placeIds?.includes(placeId) === false ? 0 : bytes), 0)
  }

  async sumUsage(cameraId: number): Promise<FootageUsage[]> {
    const byPlace = Map.groupBy(this.#closed(cameraId), ({ placeId }) => placeId)
    return [...byPlace]
      .sort(([a], [b]) => a - b)
      .map(([placeId, closed]) => {
        return { cameraId, placeId, bytes: closed.reduce((sum, { bytes }) => sum + bytes, 0), segments: closed.length }
      })
  }

  async recount(cameraId: number): Promise<void> {
    for (const usage of await this.sumUsage(cameraId)) this.#usage.set(`${cameraId} ${usage.placeId}`, usage)
  }

  async markPendingDeletions(ids: readonly number[]): Promise<PendingDeletion[]> {
    const found = ids.map((id) => this.#rows.get(id)).filter((segment) => segment !== undefined)
    for (const segment of found) {
      const { id, placeId, path, bytes, isClosed } = segment
      this.#pendingDeletions.set(id, { id, placeId, path })
      this.#rows.delete(id)
      if (isClosed) this.#count(segment, -bytes, -1)
    }
    return found.map(({ id, placeId, path }) => ({ id, placeId, path }))
  }

  async move(id: number, from: FileLocation & Pick<Segment, 'bytes'>, to: FileLocation): Promise<boolean> {
    const before = this.#rows.get(id)
    if (!before || before.placeId !== from.placeId || before.path !== from.path || before.bytes !== from.bytes)
      return false
    const { placeId, path } = to
    this.#rows.set(id, { ...before, placeId, path })
    this.#count(before, -before.bytes, -1)
    this.#count({ ...before, placeId }, before.bytes, 1)
    await this.endCopy(to)
    this.#pendingDeletions.set(-id, { id: -id, placeId: from.placeId, path: from.path })
    return true
  }

  async beginCopy(copy: FileLocation, owner: CopyOwner): Promise<void> {
    this.#copies.set(`${copy.placeId} ${copy.path}`, { copy, owner })
  }

  async endCopy({ placeId, path }: FileLocation): Promise<void> {
    this.#copies.delete(`${placeId} ${path}`)
  }

  async listCopies(owner?: CopyOwner): Promise<FileLocation[]> {
    return [...this.#copies.values()].filter((each) => !owner || each.owner === owner).map(({ copy }) => copy)
  }

  async sync(): Promise<void> {}

  async listPendingDeletions(limit: number, placeId?: number): Promise<PendingDeletion[]> {
    const all = [...this.#pendingDeletions.values()]
    return all.filter((pending) => placeId === undefined || pending.placeId === placeId).slice(0, limit)
  }

  async remove(ids: readonly number[]): Promise<void> {
    for (const id of ids) this.#pendingDeletions.delete(id)
  }

  #ordered(cameraId: number): Segment[] {
    return this.all
      .filter((s) => s.cameraId === cameraId)
      .map((s) => this.#withEpoch(cameraId, s))
      .sort(compareRecorded)
  }

  #withEpoch<T extends { readonly id: number }>(cameraId: number, segment: T): T & { readonly epoch?: number } {
    const starts = this.#epochs.get(cameraId) ?? []
    return starts.length === 0 ? segment : { ...segment, epoch: findEpoch(starts, segment.id) }
  }

  #closed(cameraId: number): Segment[] {
    return this.#ordered(cameraId).filter((s) => s.isClosed)
  }

  #count({ cameraId, placeId }: Pick<Segment, 'cameraId' | 'placeId'>, bytes: number, segments: number): void {
    const key = `${cameraId} ${placeId}`
    const before = this.#usage.get(key) ?? { bytes: 0, segments: 0 }
    const sums = { bytes: before.bytes + bytes, segments: before.segments + segments }
    this.#usage.set(key, { cameraId, placeId, ...sums })
  }
}

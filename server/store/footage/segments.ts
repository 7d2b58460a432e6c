// The index of recorded files: one small row per file, with its table of fragments in another table. Does not access
// the files.
//
// Order of writes (docs/design/store.md): the open row is on the disk before anything relies on it. A power failure may
// lose the closing row, because the file itself shows how long it is. A file is deleted only after its row is a pending
// deletion on the disk.

import { randomInt } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { GapReason } from '../../../contract/gap-reasons.ts'
import type { CameraLease } from '../../model/camera-lease.ts'
import { findEpoch, lastEpoch, listIdRanges } from '../../model/clock-epoch.ts'
import { parseFragmentTable, writeFragmentTable } from '../../model/fragment-table.ts'
import type { Fragment, Segment } from '../../model/segment.ts'
import type {
  ClosedValues,
  CopyOwner,
  FileLocation,
  FootageBounds,
  FootageUsage,
  LastSegment,
  OldestQuery,
  OldSegment,
  OpenSegment,
  PendingDeletion,
  SegmentFile,
  SegmentSpan,
} from '../../model/segment-views.ts'
import type { Database } from '../engine/database.ts'
import { writeRelaxed } from '../engine/durability.ts'
import { inTransaction } from '../engine/transaction.ts'
import type { Row, Tables } from '../schema.ts'
import { checkLease } from '../server/leases.ts'
import { listClockEpochs, orderByClockEpoch, removeClockEpochs, writeClockEpoch } from './clock-epochs.ts'
import { addToFootage, listFootage, recountFootage, sumFootage } from './footage.ts'
import { listPendingDeletions, markPendingDeletions, removePendingDeletions } from './pending-deletions.ts'
import { findLast, listOldest } from './recorded-order.ts'
import { listSegmentHoles, maxSegmentMs, writeSegmentHoles } from './segment-holes.ts'

export class Segments {
  readonly #db: Kysely<Tables>
  readonly #sync: () => Promise<void>
  readonly #settle: () => Promise<void>

  /** See `Database`. */
  constructor(db: Kysely<Tables>, { sync, settle }: Pick<Database, 'sync' | 'settle'>) {
    this.#db = db
    this.#sync = sync
    this.#settle = settle
  }

  /** Resolves when all earlier writes are on the disk, and on those of replicas. Throws 'unavailable'. */
  sync(): Promise<void> {
    return this.#settle()
  }

  /** Call for a file that was just created. Returns the segment's id. Throws `LostLease`. */
  async insertOpen(segment: OpenSegment, epoch?: number, lease?: CameraLease): Promise<number> {
    const insert = (db: Kysely<Tables>) =>
      db
        .insertInto('segments')
        .values({
          camera_id: segment.cameraId,
          is_closed: 0,
          start_ms: segment.startMs,
          end_ms: segment.startMs,
          run_id: segment.runId,
          run_start90k: segment.runStart90k,
          place_id: segment.placeId,
          path: segment.path,
          bytes: segment.initBytes,
          init_bytes: segment.initBytes,
          codecs: segment.codecs,
          width: segment.width,
          height: segment.height,
          init_hash: segment.initHash,
          gap_reason: segment.gapReason ?? null,
        })
        .returning('id')
        .executeTakeFirstOrThrow()
    const { id } = await writeRelaxed(this.#db, (db) =>
      epoch === undefined && !lease
        ? insert(db)
        : inTransaction(db, async (transaction) => {
            if (lease) await checkLease(transaction, lease)
            const inserted = await insert(transaction)
            if (epoch !== undefined) await writeClockEpoch(transaction, segment.cameraId, inserted.id, epoch)
            return inserted
          }),
    )
    // If the sync and then the power fails, the file is found without its row.
    await this.#sync().catch(() => {})
    return id
  }

  /**
   * Call after the file was synced. Closing again replaces the values; a deleted row stays deleted. Returns false if there
   * is none. Throws `LostLease`.
   */
  async close(
    id: number,
    { endMs, bytes, fragments, checksum, path }: ClosedValues,
    lease?: CameraLease,
  ): Promise<boolean> {
    const table = writeFragmentTable(fragments)
    return writeRelaxed(this.#db, (db) =>
      inTransaction(db, async (transaction) => {
        if (lease) await checkLease(transaction, lease)
        const before = await transaction
          .selectFrom('segments')
          .select(['camera_id', 'place_id', 'path', 'is_closed', 'bytes', 'start_ms'])
          .where('id', '=', id)
          .forUpdate()
          .executeTakeFirst()
        if (!before || (path !== undefined && before.path !== path)) return false
        await transaction
          .updateTable('segments')
          .set({ is_closed: 1, end_ms: endMs, bytes, checksum: checksum ?? null })
          .where('id', '=', id)
          .execute()
        await transaction
          .insertInto('segment_fragments')
          .values({ segment_id: id, fragments: table })
          .onConflict((conflict) => conflict.column('segment_id').doUpdateSet({ fragments: table }))
          .execute()
        await writeSegmentHoles(transaction, { id, cameraId: before.camera_id, startMs: before.start_ms }, fragments)
        const isClosed = before.is_closed === 1
        await addToFootage(transaction, {
          cameraId: before.camera_id,
          placeId: before.place_id,
          bytes: isClosed ? bytes - before.bytes : bytes,
          segments: isClosed ? 0 : 1,
        })
        return true
      }),
    )
  }

  /** Why nothing was recorded before a segment, if it was one of `before` until now. */
  async correctGapReason(id: number, before: readonly GapReason[], reason: GapReason): Promise<void> {
    await writeRelaxed(this.#db, (db) =>
      db
        .updateTable('segments')
        .set({ gap_reason: reason })
        .where('id', '=', id)
        .where('gap_reason', 'in', before)
        .execute(),
    )
  }

  /** Segments of all cameras that no recorder has closed; at the start, those that the last run left open. */
  async listOpen(): Promise<Segment[]> {
    return this.#list(this.#selectWhole().where('is_closed', '=', 0).orderBy('segments.id'))
  }

  /** Closed segments that overlap [startMs, endMs), in the order of recording. */
  async listBetween(cameraId: number, startMs: number, endMs: number): Promise<Segment[]> {
    const segments = await this.#list(
      this.#selectWhole()
        .where('is_closed', '=', 1)
        .where('camera_id', '=', cameraId)
        .where('start_ms', '>', startMs - maxSegmentMs)
        .where('start_ms', '<', endMs)
        .where('end_ms', '>', startMs)
        .orderBy('start_ms'),
    )
    return orderByClockEpoch(segments, await listClockEpochs(this.#db, cameraId))
  }

  /** Like `listBetween`, but reads only the index. */
  async listSpans(cameraId: number, startMs: number, endMs: number): Promise<SegmentSpan[]> {
    const rows = await this.#db
      .selectFrom('segments')
      .select(['id', 'start_ms', 'end_ms', 'run_id', 'gap_reason'])
      .where('is_closed', '=', 1)
      .where('camera_id', '=', cameraId)
      .where('start_ms', '>', startMs - maxSegmentMs)
      .where('start_ms', '<', endMs)
      .where('end_ms', '>', startMs)
      .orderBy('start_ms')
      .execute()
    const holes = await listSegmentHoles(this.#db, cameraId, startMs, endMs)
    const spans = rows.map((row) => ({
      id: row.id,
      startMs: row.start_ms,
      endMs: row.end_ms,
      runId: row.run_id,
      gapReason: row.gap_reason ?? undefined,
      holes: holes.get(row.id),
    }))
    return orderByClockEpoch(spans, await listClockEpochs(this.#db, cameraId))
  }

  /** Whether a segment of `listBetween` has an audio track. */
  async hasAudio(cameraId: number, startMs: number, endMs: number): Promise<boolean> {
    const row = await this.#db
      .selectFrom('segments')
      .select('id')
      .where('is_closed', '=', 1)
      .where('camera_id', '=', cameraId)
      .where('start_ms', '>', startMs - maxSegmentMs)
      .where('start_ms', '<', endMs)
      .where('end_ms', '>', startMs)
      // A literal, because the index segments_with_audio is not used with a parameter.
      .where(sql<boolean>`codecs like '%,%'`)
      .limit(1)
      .executeTakeFirst()
    return row !== undefined
  }

  async find(id: number): Promise<Segment | undefined> {
    const [segment] = await this.#list(this.#selectWhole().where('segments.id', '=', id))
    if (!segment) return undefined
    const epoch = findEpoch(await listClockEpochs(this.#db, segment.cameraId), id)
    return epoch === 0 ? segment : { ...segment, epoch }
  }

  /** Bounds of the closed segments. */
  async findBounds(cameraId: number): Promise<FootageBounds | undefined> {
    const closed = this.#db.selectFrom('segments').where('is_closed', '=', 1).where('camera_id', '=', cameraId).limit(1)
    const first = await closed.select('start_ms').orderBy('start_ms', 'asc').executeTakeFirst()
    const newest = await closed.select(['start_ms', 'end_ms']).orderBy('start_ms', 'desc').executeTakeFirst()
    if (!first || !newest) return undefined
    const bounds = { startMs: first.start_ms, endMs: newest.end_ms }
    const epochs = await listClockEpochs(this.#db, cameraId)
    if (epochs.length === 0) return bounds
    const [oldest] = await this.listOldest(cameraId, { limit: 1 })
    const last = await findLast(this.#db, cameraId, { epochs, states: [1] })
    // If files overlap, the one that starts last may not end last.
    const { end_ms: endMs } = await this.#db
      .selectFrom('segments')
      .select(({ fn }) => fn.max('end_ms').as('end_ms'))
      .where('is_closed', '=', 1)
      .where('camera_id', '=', cameraId)
      .where('start_ms', '>=', newest.start_ms - maxSegmentMs)
      .executeTakeFirstOrThrow()
    return {
      ...bounds,
      endMs,
      oldest: oldest && { epoch: findEpoch(epochs, oldest.id), startMs: oldest.startMs },
      newest: last,
    }
  }

  /** The segment, open or closed, that was recorded last. */
  async findLast(cameraId: number): Promise<LastSegment | undefined> {
    const epochs = await listClockEpochs(this.#db, cameraId)
    return findLast(this.#db, cameraId, { epochs, states: [0, 1] })
  }

  async findLastEpoch(cameraId: number): Promise<number> {
    return lastEpoch(await listClockEpochs(this.#db, cameraId))
  }

  removeClockEpochs(cameraId: number): Promise<void> {
    return removeClockEpochs(this.#db, cameraId)
  }

  /** The first segment, open or closed, that starts at or after `startMs`. */
  async findNext(cameraId: number, startMs: number): Promise<SegmentFile | undefined> {
    const found = await this.#listEnds(cameraId, (query) => query.where('start_ms', '>=', startMs).orderBy('start_ms'))
    return found.sort((a, b) => a.startMs - b.startMs)[0]
  }

  /** The segment, open or closed, that starts last in the last epoch. */
  async findNewest(cameraId: number): Promise<SegmentFile | undefined> {
    const epochs = await listClockEpochs(this.#db, cameraId)
    const fromId = listIdRanges(epochs, lastEpoch(epochs)).at(-1)?.fromId ?? 0
    const found = await this.#listEnds(cameraId, (query) =>
      query
        .$if(fromId > 0, (some) => some.where('id', '>=', fromId))
        .orderBy('start_ms', 'desc')
        .orderBy('id', 'desc'),
    )
    return found.sort((a, b) => b.startMs - a.startMs)[0]
  }

  async findLease(cameraId: number): Promise<{ readonly epoch: number; readonly takenMs: number } | undefined> {
    const row = await this.#db
      .selectFrom('camera_leases')
      .select(['epoch', 'taken_ms'])
      .where('camera_id', '=', cameraId)
      .executeTakeFirst()
    return row && { epoch: row.epoch, takenMs: row.taken_ms }
  }

  /** All segments, open and closed, that start in [startMs, endMs), in no particular order. */
  async listFiles(cameraId: number, startMs: number, endMs: number): Promise<SegmentFile[]> {
    const rows = await selectFiles(this.#db)
      .where('is_closed', 'in', [0, 1])
      .where('camera_id', '=', cameraId)
      .where('start_ms', '>=', startMs)
      .where('start_ms', '<', endMs)
      .execute()
    return rows.map(toFile)
  }

  /** Closed segments in the order of recording. */
  listOldest(cameraId: number, query: OldestQuery): Promise<OldSegment[]> {
    return listOldest(this.#db, cameraId, query)
  }

  /** Counters of each camera and place with closed segments. */
  listUsage(): Promise<FootageUsage[]> {
    return listFootage(this.#db)
  }

  /** The counters of a camera, computed from its rows. */
  sumUsage(cameraId: number): Promise<FootageUsage[]> {
    return sumFootage(this.#db, cameraId)
  }

  /** Corrects the counters of a camera. */
  recount(cameraId: number): Promise<void> {
    return recountFootage(this.#db, cameraId)
  }

  /** Size of the closed segments that overlap [startMs, endMs), from their rows. `placeIds`: only of those there. */
  async sumBytes(cameraId: number, startMs: number, endMs: number, placeIds?: readonly number[]): Promise<number> {
    if (placeIds?.length === 0) return 0
    const { bytes } = await this.#db
      .selectFrom('segments')
      .select((of) => of.fn.sum<number | null>('bytes').as('bytes'))
      .where('is_closed', '=', 1)
      .where('camera_id', '=', cameraId)
      .where('start_ms', '>', startMs - maxSegmentMs)
      .where('start_ms', '<', endMs)
      .where('end_ms', '>', startMs)
      .$if(placeIds !== undefined, (some) => some.where('place_id', 'in', placeIds!))
      .executeTakeFirstOrThrow()
    return Number(bytes ?? 0)
  }

  /** Cameras with segments, including cameras that were deleted. */
  async listCameraIds(): Promise<number[]> {
    const ids = new Set<number>()
    for (const isClosed of [0, 1]) {
      // One step through the index per camera; `distinct` would walk all segments.
      let id: number | null = -1
      while (id !== null) {
        const row: { id: number | null } = await this.#db
          .selectFrom('segments')
          .select((of) => of.fn.min<number | null>('camera_id').as('id'))
          .where('is_closed', '=', isClosed)
          .where('camera_id', '>', id)
          .executeTakeFirstOrThrow()
        id = row.id
        if (id !== null) ids.add(id)
      }
    }
    return [...ids].sort((a, b) => a - b)
  }

  /**
   * Turns segments into pending deletions. The files of those returned may be deleted as soon as this is on the disk,
   * after `sync`. Ids without a row are skipped.
   */
  markPendingDeletions(ids: readonly number[]): Promise<PendingDeletion[]> {
    return markPendingDeletions(this.#db, ids)
  }

  /**
   * The file is in another place now, and the one at `from` is a pending deletion. Returns false when the row is not
   * there or names another file than `from`, because it was deleted or changed meanwhile.
   */
  async move(id: number, from: FileLocation & Pick<Segment, 'bytes'>, to: FileLocation): Promise<boolean> {
    return await inTransaction(this.#db, async (transaction) => {
      const { numUpdatedRows } = await transaction
        .updateTable('segments')
        .set({ place_id: to.placeId, path: to.path })
        .where('id', '=', id)
        .where('is_closed', '=', 1)
        .where('place_id', '=', from.placeId)
        .where('path', '=', from.path)
        .where('bytes', '=', from.bytes)
        .executeTakeFirstOrThrow()
      if (numUpdatedRows === 0n) return false
      const { camera_id: cameraId } = await transaction
        .selectFrom('segments')
        .select('camera_id')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      const { bytes } = from
      await addToFootage(transaction, { cameraId, placeId: from.placeId, bytes: -bytes, segments: -1 })
      await addToFootage(transaction, { cameraId, placeId: to.placeId, bytes, segments: 1 })
      // Not the id of the segment, which may become a pending deletion too.
      const pending = { id: -randomInt(1, 2 ** 47), place_id: from.placeId, path: from.path }
      await transaction.insertInto('pending_deletions').values(pending).execute()
      await removeCopy(transaction, to)
      return true
    })
  }

  /** Call before a copy is made, so that it is found if it is not finished: by `move` or `endCopy`. */
  async beginCopy({ placeId, path }: FileLocation, owner: CopyOwner, node: string | null = null): Promise<void> {
    await this.#db
      .insertInto('copies')
      .values({ place_id: placeId, path, owner, node })
      .onConflict((conflict) => conflict.columns(['place_id', 'path']).doUpdateSet({ owner, node }))
      .execute()
  }

  /** The file does not exist, or not any more. */
  endCopy(copy: FileLocation): Promise<void> {
    return removeCopy(this.#db, copy)
  }

  /** Of one owner, or of all; with `node`, only of that server. */
  async listCopies(owner?: CopyOwner, node?: string): Promise<FileLocation[]> {
    const rows = await this.#db
      .selectFrom('copies')
      .selectAll()
      .$if(owner !== undefined, (query) => query.where('owner', '=', owner!))
      .$if(node !== undefined, (query) => query.where('node', '=', node!))
      .execute()
    return rows.map(({ place_id: placeId, path }) => ({ placeId, path }))
  }

  /** Of one place, or of all. */
  listPendingDeletions(limit: number, placeId?: number): Promise<PendingDeletion[]> {
    return listPendingDeletions(this.#db, limit, placeId)
  }

  /** Call after the files were deleted. */
  remove(ids: readonly number[]): Promise<void> {
    return removePendingDeletions(this.#db, ids)
  }

  /** One open and one closed segment, because the index begins with that column. */
  async #listEnds(
    cameraId: number,
    order: (query: ReturnType<typeof selectFiles>) => ReturnType<typeof selectFiles>,
  ): Promise<SegmentFile[]> {
    const ofState = (isClosed: number) =>
      order(selectFiles(this.#db).where('is_closed', '=', isClosed).where('camera_id', '=', cameraId)).limit(1)
    const rows = [...(await ofState(0).execute()), ...(await ofState(1).execute())]
    return rows.map(toFile)
  }

  #selectWhole() {
    return this.#db
      .selectFrom('segments')
      .leftJoin('segment_fragments', 'segment_fragments.segment_id', 'segments.id')
      .selectAll('segments')
      .select('segment_fragments.fragments')
  }

  async #list(query: { execute(): Promise<WholeRow[]> }): Promise<Segment[]> {
    return (await query.execute()).map(toSegment)
  }
}

async function removeCopy(db: Kysely<Tables>, { placeId, path }: FileLocation): Promise<void> {
  await db.deleteFrom('copies').where('place_id', '=', placeId).where('path', '=', path).execute()
}

type WholeRow = Row<'segments'> & { fragments: Uint8Array | null }

function toSegment(row: WholeRow): Segment {
  const fragments: Fragment[] = row.fragments ? parseFragmentTable(row.fragments) : []
  return {
    id: row.id,
    cameraId: row.camera_id,
    runId: row.run_id,
    runStart90k: row.run_start90k,
    placeId: row.place_id,
    path: row.path,
    startMs: row.start_ms,
    endMs: row.end_ms,
    bytes: row.bytes,
    initBytes: row.init_bytes,
    codecs: row.codecs,
    width: row.width,
    height: row.height,
    initHash: row.init_hash,
    fragments,
    isClosed: row.is_closed === 1,
    gapReason: row.gap_reason ?? undefined,
    ...(row.checksum !== null && { checksum: row.checksum }),
  }
}

function selectFiles(db: Kysely<Tables>) {
  return db.selectFrom('segments').select(['id', 'place_id', 'path', 'start_ms', 'bytes', 'is_closed'])
}

function toFile(
  row: Pick<Row<'segments'>, 'id' | 'place_id' | 'path' | 'start_ms' | 'bytes' | 'is_closed'>,
): SegmentFile {
  const { id, place_id: placeId, path, start_ms: startMs, bytes, is_closed: isClosed } = row
  return { id, placeId, path, startMs, bytes, isClosed: isClosed === 1 }
}

// The index of recorded files: one small row each, its table of fragments beside it. Knows nothing of the files themselves.
//
// Order of writing (docs/design/store.md): the open row is on the disk before the recorder relies on it; the closing row may be
// lost with the machine's power, since the file itself tells how far it goes; a file is deleted only after its row is garbage.

import type { Kysely } from 'kysely'
import { parseFragmentTable, writeFragmentTable } from '../model/fragment-table.ts'
import type { Fragment, Segment } from '../model/segment.ts'
import { writeRelaxed } from './durability.ts'
import type { Row, Tables } from './schema.ts'
import { inTransaction } from './transaction.ts'

/** No segment lasts longer: what overlaps a moment began at most this long before it. */
const maxSegmentMs = 3_600_000

export type OpenSegmentValues = Omit<Segment, 'id' | 'fragments' | 'isClosed' | 'endMs' | 'bytes'>

/** A segment without its fragments, for timelines. */
export type SegmentSpan = Pick<Segment, 'startMs' | 'endMs' | 'runId' | 'gapReason'>

export class Segments {
  readonly #db: Kysely<Tables>

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  /** For a file that has just been created. Returns the segment's id. */
  async insertOpen(segment: OpenSegmentValues): Promise<number> {
    const { id } = await this.#db
      .insertInto('segments')
      .values({
        camera_id: segment.cameraId,
        is_closed: 0,
        start_ms: segment.startMs,
        end_ms: segment.startMs,
        run_id: segment.runId,
        run_start90k: segment.runStart90k,
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
    return id
  }

  /** After the file was synced. Closing again replaces what was there. */
  async close(id: number, { endMs, bytes, fragments }: Pick<Segment, 'endMs' | 'bytes' | 'fragments'>): Promise<void> {
    const table = writeFragmentTable(fragments)
    await writeRelaxed(this.#db, (db) =>
      inTransaction(db, async (transaction) => {
        await transaction
          .updateTable('segments')
          .set({ is_closed: 1, end_ms: endMs, bytes })
          .where('id', '=', id)
          .execute()
        await transaction
          .insertInto('segment_fragments')
          .values({ segment_id: id, fragments: table })
          .onConflict((conflict) => conflict.column('segment_id').doUpdateSet({ fragments: table }))
          .execute()
      }),
    )
  }

  /** Those no recorder has closed, of all cameras: after a start, what the last run left. */
  async listOpen(): Promise<Segment[]> {
    return this.#list(this.#selectWhole().where('is_closed', '=', 0).orderBy('segments.id'))
  }

  /** Closed ones that overlap [startMs, endMs), in the order of their start. */
  async listBetween(cameraId: number, startMs: number, endMs: number): Promise<Segment[]> {
    return this.#list(
      this.#selectWhole()
        .where('is_closed', '=', 1)
        .where('camera_id', '=', cameraId)
        .where('start_ms', '>', startMs - maxSegmentMs)
        .where('start_ms', '<', endMs)
        .where('end_ms', '>', startMs)
        .orderBy('start_ms'),
    )
  }

  /** As `listBetween`, read from the index alone. */
  async listSpans(cameraId: number, startMs: number, endMs: number): Promise<SegmentSpan[]> {
    const rows = await this.#db
      .selectFrom('segments')
      .select(['start_ms', 'end_ms', 'run_id', 'gap_reason'])
      .where('is_closed', '=', 1)
      .where('camera_id', '=', cameraId)
      .where('start_ms', '>', startMs - maxSegmentMs)
      .where('start_ms', '<', endMs)
      .where('end_ms', '>', startMs)
      .orderBy('start_ms')
      .execute()
    return rows.map((row) => ({
      startMs: row.start_ms,
      endMs: row.end_ms,
      runId: row.run_id,
      gapReason: row.gap_reason ?? undefined,
    }))
  }

  async find(id: number): Promise<Segment | undefined> {
    const [segment] = await this.#list(this.#selectWhole().where('segments.id', '=', id))
    return segment
  }

  /** Start of the first and end of the newest closed segment. */
  async findBounds(cameraId: number): Promise<{ startMs: number; endMs: number } | undefined> {
    const closed = this.#db.selectFrom('segments').where('is_closed', '=', 1).where('camera_id', '=', cameraId).limit(1)
    const first = await closed.select('start_ms').orderBy('start_ms', 'asc').executeTakeFirst()
    const newest = await closed.select('end_ms').orderBy('start_ms', 'desc').executeTakeFirst()
    return first && newest && { startMs: first.start_ms, endMs: newest.end_ms }
  }

  /** Closed ones that ended at or before `beforeMs`, oldest first. */
  async listOldest(cameraId: number, beforeMs: number, limit: number): Promise<Segment[]> {
    return this.#list(
      this.#selectWhole()
        .where('is_closed', '=', 1)
        .where('camera_id', '=', cameraId)
        .where('start_ms', '<=', beforeMs)
        .where('end_ms', '<=', beforeMs)
        .orderBy('start_ms')
        .limit(limit),
    )
  }

  /** Bytes of a camera's closed files. */
  async sumBytes(cameraId: number): Promise<number> {
    const { bytes } = await this.#db
      .selectFrom('segments')
      .select((of) => of.fn.sum<number | null>('bytes').as('bytes'))
      .where('is_closed', '=', 1)
      .where('camera_id', '=', cameraId)
      .executeTakeFirstOrThrow()
    return Number(bytes ?? 0)
  }

  /** Cameras that have segments, whether the camera still exists or not. */
  async listCameraIds(): Promise<number[]> {
    const ids = new Set<number>()
    for (const isClosed of [0, 1]) {
      // One step through the index per camera: `distinct` would walk all its segments.
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

  /** All segments in the order of their ids, a page at a time, for the integrity check. */
  async listAfter(id: number, limit: number): Promise<Segment[]> {
    return this.#list(this.#selectWhole().where('segments.id', '>', id).orderBy('segments.id').limit(limit))
  }

  /** From now on they are no footage, and their files may be deleted. On the disk when this resolves. */
  async markGarbage(ids: readonly number[]): Promise<void> {
    await inTransaction(this.#db, async (transaction) => {
      for (const some of chunks(ids)) {
        await transaction
          .insertInto('garbage')
          .columns(['id', 'path'])
          .expression((of) => of.selectFrom('segments').select(['id', 'path']).where('id', 'in', some))
          .execute()
        await transaction.deleteFrom('segment_fragments').where('segment_id', 'in', some).execute()
        await transaction.deleteFrom('segments').where('id', 'in', some).execute()
      }
    })
  }

  async listGarbage(limit: number): Promise<{ id: number; path: string }[]> {
    const rows = await this.#db.selectFrom('garbage').select(['id', 'path']).orderBy('id').limit(limit).execute()
    return rows.map(({ id, path }) => ({ id, path }))
  }

  /** After the files of garbage are deleted. */
  async remove(ids: readonly number[]): Promise<void> {
    for (const some of chunks(ids)) {
      await writeRelaxed(this.#db, (db) => db.deleteFrom('garbage').where('id', 'in', some).execute())
    }
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

type WholeRow = Row<'segments'> & { fragments: Uint8Array | null }

function toSegment(row: WholeRow): Segment {
  const fragments: Fragment[] = row.fragments ? parseFragmentTable(row.fragments) : []
  return {
    id: row.id,
    cameraId: row.camera_id,
    runId: row.run_id,
    runStart90k: row.run_start90k,
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
  }
}

/** Lists of ids are bounded by what one statement may carry. */
function* chunks(ids: readonly number[]): Generator<readonly number[]> {
  for (let i = 0; i < ids.length; i += 500) yield ids.slice(i, i + 500)
}

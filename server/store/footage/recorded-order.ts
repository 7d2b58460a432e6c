// The first and last segments of a camera in the order of recording, that is, by epoch (model/clock-epoch.ts) and
// start.

import { type Kysely, sql } from 'kysely'
import { type ClockEpochStart, findEpoch, lastEpoch, listIdRanges } from '../../model/clock-epoch.ts'
import type { LastSegment, OldestQuery, OldSegment } from '../../model/segment-views.ts'
import type { Tables } from '../schema.ts'
import { hasIdIn, listClockEpochs } from './clock-epochs.ts'

/** Closed segments, oldest first. If there is only one epoch, they are read from the index alone. */
export async function listOldest(db: Kysely<Tables>, cameraId: number, query: OldestQuery): Promise<OldSegment[]> {
  const { limit, after } = query
  const epochs = await listClockEpochs(db, cameraId)
  if (epochs.length === 0) return listEpoch(db, cameraId, query)
  const found: OldSegment[] = []
  const from = after ? findEpoch(epochs, after.id) : 0
  for (let epoch = from; epoch <= lastEpoch(epochs) && found.length < limit; epoch++) {
    const ranges = listIdRanges(epochs, epoch)
    if (ranges.length === 0) continue // forgotten with its footage
    const rest = { ...query, limit: limit - found.length, after: epoch === from ? after : undefined }
    const segments = await listEpoch(db, cameraId, rest, ranges)
    found.push(...segments.map((segment) => ({ ...segment, epoch })))
  }
  return found
}

async function listEpoch(
  db: Kysely<Tables>,
  cameraId: number,
  { limit, after, placeId, endedByMs }: OldestQuery,
  ids: ReturnType<typeof listIdRanges> = [],
): Promise<OldSegment[]> {
  const rows = await db
    .selectFrom('segments')
    .select(['id', 'start_ms', 'end_ms', 'bytes'])
    // A literal, because the index segments_of_place is not used with a parameter.
    .where(sql<boolean>`is_closed = 1`)
    .where('camera_id', '=', cameraId)
    .$if(placeId !== undefined, (query) => query.where('place_id', '=', placeId!))
    // The start too, because it is what the index is sorted by.
    .$if(endedByMs !== undefined, (query) =>
      query.where('start_ms', '<=', endedByMs!).where('end_ms', '<=', endedByMs!),
    )
    .$if(after !== undefined, (query) =>
      query
        .where('start_ms', '>=', after!.startMs)
        .where((of) => of.or([of('start_ms', '>', after!.startMs), of('id', '>', after!.id)])),
    )
    .$if(ids.length > 0, (query) => query.where((of) => of.or(ids.map((range) => hasIdIn(of, range)))))
    .orderBy('start_ms')
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ id: row.id, startMs: row.start_ms, endMs: row.end_ms, bytes: row.bytes }))
}

/** `states`: values of `is_closed`. Open segments end where they began. */
export async function findLast(
  db: Kysely<Tables>,
  cameraId: number,
  { epochs, states }: { readonly epochs: readonly ClockEpochStart[]; readonly states: readonly number[] },
): Promise<LastSegment | undefined> {
  for (let epoch = lastEpoch(epochs); epoch >= 0; epoch--) {
    const ids = listIdRanges(epochs, epoch)
    if (ids.length === 0) continue // forgotten with its footage
    const found: LastSegment[] = []
    for (const state of states) {
      const row = await db
        .selectFrom('segments')
        .select(['start_ms', 'end_ms'])
        .where('is_closed', '=', state)
        .where('camera_id', '=', cameraId)
        .$if(epochs.length > 0, (query) => query.where((of) => of.or(ids.map((range) => hasIdIn(of, range)))))
        .orderBy('start_ms', 'desc')
        .limit(1)
        .executeTakeFirst()
      if (row) found.push({ startMs: row.start_ms, endMs: row.end_ms, epoch })
    }
    if (found.length > 0) return found.reduce((last, other) => (other.startMs > last.startMs ? other : last))
  }
  return undefined
}

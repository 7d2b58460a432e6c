// Rows of holes inside closed segments; see model/footage-hole.ts.

import type { Kysely } from 'kysely'
import { type FootageHole, listHoles, parseHoles, writeHoles } from '../../model/footage-hole.ts'
import type { Fragment } from '../../model/segment.ts'
import type { Tables } from '../schema.ts'

/** No segment lasts longer, so segments that overlap a moment begin at most this long before it. */
export const maxSegmentMs = 3_600_000

/** Holes by segment. */
export async function listSegmentHoles(
  db: Kysely<Tables>,
  cameraId: number,
  startMs: number,
  endMs: number,
): Promise<Map<number, FootageHole[]>> {
  const rows = await db
    .selectFrom('segment_holes')
    .select(['segment_id', 'holes'])
    .where('camera_id', '=', cameraId)
    .where('start_ms', '>', startMs - maxSegmentMs)
    .where('start_ms', '<', endMs)
    .execute()
  return new Map(rows.map((row) => [row.segment_id, parseHoles(row.holes)]))
}

/** Replaces the segment's holes. */
export async function writeSegmentHoles(
  db: Kysely<Tables>,
  { id, cameraId, startMs }: { readonly id: number; readonly cameraId: number; readonly startMs: number },
  fragments: readonly Fragment[],
): Promise<void> {
  await db.deleteFrom('segment_holes').where('segment_id', '=', id).execute()
  const found = listHoles(fragments)
  if (found.length === 0) return
  const values = { segment_id: id, camera_id: cameraId, start_ms: startMs, holes: writeHoles(found) }
  await db.insertInto('segment_holes').values(values).execute()
}

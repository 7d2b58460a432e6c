// Counters of footage: bytes and number of the closed segments of each camera in each place. They are updated in the
// transaction that changes a segment, so that they are right after every crash and no rows need to be added up.

import { type Kysely, sql } from 'kysely'
import type { FootageUsage } from '../../model/segment-views.ts'
import { inTransaction } from '../engine/transaction.ts'
import type { Row, Tables } from '../schema.ts'

/** Call within the transaction that changes the segments. */
export async function addToFootage(
  transaction: Kysely<Tables>,
  { cameraId, placeId, bytes, segments }: FootageUsage,
): Promise<void> {
  await transaction
    .insertInto('footage')
    .values({ camera_id: cameraId, place_id: placeId, bytes, segments })
    .onConflict((conflict) =>
      conflict.columns(['camera_id', 'place_id']).doUpdateSet({
        bytes: sql<number>`footage.bytes + ${bytes}`,
        segments: sql<number>`footage.segments + ${segments}`,
      }),
    )
    .execute()
}

type Removed = Pick<Row<'segments'>, 'camera_id' | 'place_id' | 'bytes' | 'is_closed'>

/** Like `addToFootage`, for deleted rows; open segments are not counted. */
export async function takeFromFootage(transaction: Kysely<Tables>, removed: readonly Removed[]): Promise<void> {
  const closed = removed.filter((row) => row.is_closed === 1)
  for (const rows of Map.groupBy(closed, (row) => `${row.camera_id} ${row.place_id}`).values()) {
    const [{ camera_id: cameraId, place_id: placeId }] = rows as [Removed]
    const bytes = rows.reduce((sum, row) => sum + row.bytes, 0)
    await addToFootage(transaction, { cameraId, placeId, bytes: -bytes, segments: -rows.length })
  }
}

/** Counters of every camera and place with closed segments, in the order of the cameras. */
export async function listFootage(db: Kysely<Tables>): Promise<FootageUsage[]> {
  const rows = await db
    .selectFrom('footage')
    .selectAll()
    .where('segments', '>', 0)
    .orderBy('camera_id')
    .orderBy('place_id')
    .execute()
  return rows.map((row) => ({
    cameraId: row.camera_id,
    placeId: row.place_id,
    bytes: row.bytes,
    segments: row.segments,
  }))
}

/** The counters of a camera computed from its rows. */
export async function sumFootage(db: Kysely<Tables>, cameraId: number): Promise<FootageUsage[]> {
  const sums = await db
    .selectFrom('segments')
    .select((of) => [
      'place_id',
      of.fn.sum<number | null>('bytes').as('bytes'),
      of.fn.countAll<number>().as('segments'),
    ])
    .where('is_closed', '=', 1)
    .where('camera_id', '=', cameraId)
    .groupBy('place_id')
    .orderBy('place_id')
    .execute()
  return sums.map((sum) => ({
    cameraId,
    placeId: sum.place_id,
    bytes: Number(sum.bytes ?? 0),
    segments: Number(sum.segments),
  }))
}

/** Corrects the counters of a camera. */
export async function recountFootage(db: Kysely<Tables>, cameraId: number): Promise<void> {
  await inTransaction(db, async (transaction) => {
    const sums = await sumFootage(transaction, cameraId)
    await transaction.deleteFrom('footage').where('camera_id', '=', cameraId).execute()
    for (const sum of sums) await addToFootage(transaction, sum)
  })
}

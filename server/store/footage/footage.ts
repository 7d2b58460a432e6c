// Counters of footage: bytes and number of the closed segments of each camera. They are updated in the transaction that
// changes a segment, so that they are right after every crash and no rows need to be added up.

import { type Kysely, sql } from 'kysely'
import type { FootageUsage } from '../../model/segment-views.ts'
import { inTransaction } from '../engine/transaction.ts'
import type { Row, Tables } from '../schema.ts'

/** Call within the transaction that changes the segments. */
export async function addToFootage(
  transaction: Kysely<Tables>,
  cameraId: number,
  { bytes, segments }: { readonly bytes: number; readonly segments: number },
): Promise<void> {
  await transaction
    .insertInto('footage')
    .values({ camera_id: cameraId, bytes, segments })
    .onConflict((conflict) =>
      conflict.column('camera_id').doUpdateSet({
        bytes: sql<number>`footage.bytes + ${bytes}`,
        segments: sql<number>`footage.segments + ${segments}`,
      }),
    )
    .execute()
}

type Removed = Pick<Row<'segments'>, 'camera_id' | 'bytes' | 'is_closed'>

/** Like `addToFootage`, for deleted rows; open segments are not counted. */
export async function takeFromFootage(transaction: Kysely<Tables>, removed: readonly Removed[]): Promise<void> {
  const closed = removed.filter((row) => row.is_closed === 1)
  for (const [cameraId, rows] of Map.groupBy(closed, (row) => row.camera_id)) {
    const bytes = rows.reduce((sum, row) => sum + row.bytes, 0)
    await addToFootage(transaction, cameraId, { bytes: -bytes, segments: -rows.length })
  }
}

/** Counters of every camera with closed segments. */
export async function listFootage(db: Kysely<Tables>): Promise<FootageUsage[]> {
  const rows = await db.selectFrom('footage').selectAll().where('segments', '>', 0).orderBy('camera_id').execute()
  return rows.map((row) => ({ cameraId: row.camera_id, bytes: row.bytes, segments: row.segments }))
}

/** The counters of a camera computed from its rows. */
export async function sumFootage(db: Kysely<Tables>, cameraId: number): Promise<FootageUsage> {
  const sums = await db
    .selectFrom('segments')
    .select((of) => [of.fn.sum<number | null>('bytes').as('bytes'), of.fn.countAll<number>().as('segments')])
    .where('is_closed', '=', 1)
    .where('camera_id', '=', cameraId)
    .executeTakeFirstOrThrow()
  return { cameraId, bytes: Number(sums.bytes ?? 0), segments: Number(sums.segments) }
}

/** Corrects the counters of a camera. */
export async function recountFootage(db: Kysely<Tables>, cameraId: number): Promise<void> {
  await inTransaction(db, async (transaction) => {
    const { bytes, segments } = await sumFootage(transaction, cameraId)
    await transaction
      .insertInto('footage')
      .values({ camera_id: cameraId, bytes, segments })
      .onConflict((conflict) => conflict.column('camera_id').doUpdateSet({ bytes, segments }))
      .execute()
  })
}

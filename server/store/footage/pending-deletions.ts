// Rows of segments that are no longer footage, but whose files may still exist. A file is deleted only after its row is
// a pending deletion, and the row is removed only after the file. See docs/design/store.md.

import type { Kysely } from 'kysely'
import type { PendingDeletion } from '../../model/segment-views.ts'
import { writeRelaxed } from '../engine/durability.ts'
import { inTransaction } from '../engine/transaction.ts'
import type { Row, Tables } from '../schema.ts'
import { takeFromFootage } from './footage.ts'

/** See `Segments.markPendingDeletions`. */
export async function markPendingDeletions(db: Kysely<Tables>, ids: readonly number[]): Promise<PendingDeletion[]> {
  if (ids.length === 0) return []
  return writeRelaxed(db, (relaxed) =>
    inTransaction(relaxed, async (transaction) => {
      const marked: PendingDeletion[] = []
      for (const some of chunks(ids)) marked.push(...(await markSome(transaction, some)))
      return marked
    }),
  )
}

async function markSome(transaction: Kysely<Tables>, ids: readonly number[]): Promise<PendingDeletion[]> {
  const rows = await transaction
    .selectFrom('segments')
    .select(['id', 'place_id', 'path', 'camera_id', 'bytes', 'is_closed'])
    .where('id', 'in', ids)
    .orderBy('id')
    .forUpdate()
    .execute()
  if (rows.length === 0) return []
  const found = rows.map(({ id }) => id)
  const pending = rows.map(({ id, place_id, path }) => ({ id, place_id, path }))
  await transaction.insertInto('pending_deletions').values(pending).execute()
  await transaction.deleteFrom('segment_fragments').where('segment_id', 'in', found).execute()
  await transaction.deleteFrom('segment_holes').where('segment_id', 'in', found).execute()
  await transaction.deleteFrom('segments').where('id', 'in', found).execute()
  await takeFromFootage(transaction, rows)
  return pending.map(toPendingDeletion)
}

export async function listPendingDeletions(
  db: Kysely<Tables>,
  limit: number,
  placeId: number | undefined,
): Promise<PendingDeletion[]> {
  const rows = await db
    .selectFrom('pending_deletions')
    .selectAll()
    .$if(placeId !== undefined, (query) => query.where('place_id', '=', placeId!))
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(toPendingDeletion)
}

export async function removePendingDeletions(db: Kysely<Tables>, ids: readonly number[]): Promise<void> {
  for (const some of chunks(ids)) {
    await writeRelaxed(db, (relaxed) => relaxed.deleteFrom('pending_deletions').where('id', 'in', some).execute())
  }
}

function toPendingDeletion({ id, place_id: placeId, path }: Row<'pending_deletions'>): PendingDeletion {
  return { id, placeId, path }
}

/** Limited by the number of parameters of a statement. */
function* chunks(ids: readonly number[]): Generator<readonly number[]> {
  for (let i = 0; i < ids.length; i += 500) yield ids.slice(i, i + 500)
}

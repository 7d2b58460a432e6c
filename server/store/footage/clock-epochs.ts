// Rows of clock epochs (model/clock-epoch.ts), and what they mean for lists of segments.

import type { ExpressionBuilder, Kysely } from 'kysely'
import { type ClockEpochStart, compareRecorded, findEpoch, lastEpoch } from '../../model/clock-epoch.ts'
import { writeRelaxed } from '../engine/durability.ts'
import type { Tables } from '../schema.ts'

/** Ordered by id; none if the clock was never set back. */
export async function listClockEpochs(db: Kysely<Tables>, cameraId: number): Promise<ClockEpochStart[]> {
  const rows = await db
    .selectFrom('clock_epochs')
    .select(['from_id', 'epoch'])
    .where('camera_id', '=', cameraId)
    .orderBy('from_id')
    .execute()
  return rows.map((row) => ({ fromId: row.from_id, epoch: row.epoch }))
}

/**
 * The segment `id` begins an epoch, or belongs to an earlier one than those after it. Epochs without footage are
 * deleted.
 */
export async function writeClockEpoch(db: Kysely<Tables>, cameraId: number, id: number, epoch: number): Promise<void> {
  const known = await listClockEpochs(db, cameraId)
  const last = lastEpoch(known)
  if (known.length > 1) await forgetPassesBefore(db, cameraId, known)
  const starts = [{ from_id: id, epoch }, ...(epoch < last ? [{ from_id: id + 1, epoch: last }] : [])]
  await db
    .insertInto('clock_epochs')
    .values(starts.map((start) => ({ camera_id: cameraId, ...start })))
    .onConflict((conflict) => conflict.columns(['camera_id', 'from_id']).doUpdateSet({ epoch }))
    .execute()
}

/** Deletes epochs without footage: a clock that is set back every day would fill the table. */
async function forgetPassesBefore(
  db: Kysely<Tables>,
  cameraId: number,
  known: readonly ClockEpochStart[],
): Promise<void> {
  const { id } = await db
    .selectFrom('segments')
    .select((of) => of.fn.min<number | null>('id').as('id'))
    .where('is_closed', 'in', [0, 1])
    .where('camera_id', '=', cameraId)
    .executeTakeFirstOrThrow()
  const first = known.findLast(({ fromId }) => id !== null && fromId <= id)
  if (!first) return
  await db.deleteFrom('clock_epochs').where('camera_id', '=', cameraId).where('from_id', '<', first.fromId).execute()
}

/** Call when all footage of the camera is deleted. */
export async function removeClockEpochs(db: Kysely<Tables>, cameraId: number): Promise<void> {
  await writeRelaxed(db, (relaxed) => relaxed.deleteFrom('clock_epochs').where('camera_id', '=', cameraId).execute())
}

/** Sorts `segments`, ordered by start, into the order of recording. */
export function orderByClockEpoch<T extends { readonly id: number; readonly startMs: number }>(
  segments: readonly T[],
  epochs: readonly ClockEpochStart[],
): (T & { readonly epoch?: number })[] {
  if (epochs.length === 0) return [...segments]
  return segments.map((segment) => ({ ...segment, epoch: findEpoch(epochs, segment.id) })).sort(compareRecorded)
}

/** Restricts rows of `segments` to ids in [fromId, toId). */
export function hasIdIn(
  of: ExpressionBuilder<Tables, 'segments'>,
  { fromId, toId }: { readonly fromId: number; readonly toId: number | undefined },
) {
  return of.and([of('id', '>=', fromId), ...(toId === undefined ? [] : [of('id', '<', toId)])])
}

// Numbers of events by camera, and by camera and UTC day. They are updated in the transaction that changes the events,
// because counting a million events takes too long.

import type { Kysely } from 'kysely'
import { type DayRange, dayOf } from '../../model/event-days.ts'
import type { Tables } from '../schema.ts'

/** Which events: all of an owner, or those of one camera. */
export type EventScope = { readonly ownerId: number } | { readonly cameraId: number }

type Place = { readonly cameraId: number; readonly occurredAtMs: number }

export async function countOne(
  transaction: Kysely<Tables>,
  { cameraId, ownerId, occurredAtMs }: Place & { readonly ownerId: number },
): Promise<void> {
  await transaction
    .insertInto('event_totals')
    .values({ camera_id: cameraId, owner_id: ownerId, count: 1 })
    .onConflict((conflict) =>
      conflict.column('camera_id').doUpdateSet((of) => ({ count: of('event_totals.count', '+', 1) })),
    )
    .execute()
  await transaction
    .insertInto('event_days')
    .values({ camera_id: cameraId, day: dayOf(occurredAtMs), owner_id: ownerId, count: 1 })
    .onConflict((conflict) =>
      conflict.columns(['camera_id', 'day']).doUpdateSet((of) => ({ count: of('event_days.count', '+', 1) })),
    )
    .execute()
}

/**
 * Totals before days, and both ordered by key, like all who change several rows: this prevents deadlocks.
 */
export async function uncount(transaction: Kysely<Tables>, removed: readonly Place[]): Promise<void> {
  const totals = tally(removed.map(({ cameraId }) => [cameraId]))
  const days = tally(removed.map(({ cameraId, occurredAtMs }) => [cameraId, dayOf(occurredAtMs)]))
  for (const { key, count } of totals) {
    await transaction
      .updateTable('event_totals')
      .set((of) => ({ count: of('count', '-', count) }))
      .where('camera_id', '=', key[0]!)
      .execute()
  }
  for (const { key, count } of days) {
    const [cameraId, day] = key as [number, number]
    await transaction
      .updateTable('event_days')
      .set((of) => ({ count: of('count', '-', count) }))
      .where('camera_id', '=', cameraId)
      .where('day', '=', day)
      .execute()
    await transaction
      .deleteFrom('event_days')
      .where('camera_id', '=', cameraId)
      .where('day', '=', day)
      .where('count', '<=', 0)
      .execute()
  }
}

export async function countAll(db: Kysely<Tables>, scope: EventScope): Promise<number> {
  const { count } = await db
    .selectFrom('event_totals')
    .select(({ fn }) => fn.sum<number | null>('count').as('count'))
    .where(columnOf(scope), '=', idOf(scope))
    .executeTakeFirstOrThrow()
  return Number(count ?? 0)
}

export async function countDays(db: Kysely<Tables>, scope: EventScope, { fromDay, toDay }: DayRange): Promise<number> {
  let query = db
    .selectFrom('event_days')
    .select(({ fn }) => fn.sum<number | null>('count').as('count'))
    .where(columnOf(scope), '=', idOf(scope))
  if (fromDay !== undefined) query = query.where('day', '>=', fromDay)
  if (toDay !== undefined) query = query.where('day', '<', toDay)
  return Number((await query.executeTakeFirstOrThrow()).count ?? 0)
}

/** Newest first; days without events are omitted. */
export async function listDays(
  db: Kysely<Tables>,
  scope: EventScope,
  { fromDay, toDay }: DayRange,
): Promise<{ day: number; count: number }[]> {
  let query = db
    .selectFrom('event_days')
    .select(['day', ({ fn }) => fn.sum<number>('count').as('count')])
    .where(columnOf(scope), '=', idOf(scope))
    .groupBy('day')
    .orderBy('day', 'desc')
  if (fromDay !== undefined) query = query.where('day', '>=', fromDay)
  if (toDay !== undefined) query = query.where('day', '<', toDay)
  return (await query.execute()).map(({ day, count }) => ({ day, count: Number(count) }))
}

/** The column and value of the scope, which all three tables have. */
export function columnOf(scope: EventScope): 'owner_id' | 'camera_id' {
  return 'ownerId' in scope ? 'owner_id' : 'camera_id'
}

export function idOf(scope: EventScope): number {
  return 'ownerId' in scope ? scope.ownerId : scope.cameraId
}

type Tally = { readonly key: readonly number[]; readonly count: number }

/** Number of occurrences of each key, ordered by key. */
function tally(keys: readonly (readonly number[])[]): Tally[] {
  const counts = new Map<string, { key: readonly number[]; count: number }>()
  for (const key of keys) {
    const known = counts.get(key.join())
    if (known) known.count++
    else counts.set(key.join(), { key, count: 1 })
  }
  return [...counts.values()].sort((a, b) => a.key[0]! - b.key[0]! || (a.key[1] ?? 0) - (b.key[1] ?? 0))
}

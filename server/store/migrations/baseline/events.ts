// Events of cameras, and how many there are.

import type { Kysely } from 'kysely'
import { columnTypes } from '../../engine/column-types.ts'
import { tellChanges } from '../../postgres/postgres-triggers.ts'
import { belongsTo, keyOf, required } from './columns.ts'

export async function createEventTables(db: Kysely<never>): Promise<void> {
  const { id, identity } = columnTypes(db)
  await db.schema
    .createTable('events')
    .addColumn('id', id, identity)
    .addColumn('camera_id', id, belongsTo('cameras.id'))
    .addColumn('owner_id', id, required)
    .addColumn('title', 'text')
    .addColumn('category', 'text', required)
    .addColumn('source', 'text', required)
    .addColumn('occurred_at_ms', 'bigint', required)
    .addColumn('received_at_ms', 'bigint', required)
    .addColumn('data', 'text')
    .execute()
  // Pages are found through these indexes alone.
  for (const whose of ['owner', 'camera'] as const) {
    const order = ['occurred_at_ms', 'id'] as const
    await db.schema
      .createIndex(`events_of_${whose}`)
      .on('events')
      .columns([`${whose}_id`, ...order])
      .execute()
    await db.schema
      .createIndex(`events_of_${whose}_by_category`)
      .on('events')
      .columns([`${whose}_id`, 'category', ...order])
      .execute()
  }
  await db.schema.createIndex('events_by_receipt').on('events').column('received_at_ms').execute()

  await db.schema
    .createTable('event_totals')
    .addColumn('camera_id', id, keyOf('cameras.id'))
    .addColumn('owner_id', id, required)
    .addColumn('count', 'bigint', required)
    .execute()
  await db.schema.createIndex('event_totals_of_owner').on('event_totals').columns(['owner_id', 'count']).execute()

  await db.schema
    .createTable('event_days')
    .addColumn('camera_id', id, belongsTo('cameras.id'))
    .addColumn('day', 'integer', required)
    .addColumn('owner_id', id, required)
    .addColumn('count', 'bigint', required)
    .addPrimaryKeyConstraint('event_days_key', ['camera_id', 'day'])
    .execute()
  await db.schema.createIndex('event_days_of_owner').on('event_days').columns(['owner_id', 'day', 'count']).execute()
  await tellChanges(db, 'events')
}

// Events of cameras, how many there are, and which outages were told.

import { createHash } from 'node:crypto'
import { type ColumnDefinitionBuilder, type Kysely, sql } from 'kysely'
import { columnTypes } from '../engine/column-types.ts'
import { tellChanges } from '../postgres/postgres-triggers.ts'

const required = (column: ColumnDefinitionBuilder) => column.notNull()
const ofCamera = (column: ColumnDefinitionBuilder) => column.references('cameras.id').onDelete('cascade')

export async function createEventTables(db: Kysely<never>): Promise<void> {
  const { id, identity } = columnTypes(db)
  await db.schema
    .createTable('events')
    .addColumn('id', id, identity)
    .addColumn('camera_id', id, (column) => ofCamera(column).notNull())
    .addColumn('owner_id', id, required)
    .addColumn('title', 'text')
    .addColumn('category', 'text', required)
    .addColumn('source', 'text', required)
    .addColumn('occurred_at_ms', 'bigint', required)
    .addColumn('received_at_ms', 'bigint', required)
    .addColumn('data', 'text')
    .execute()
  // Pages are found in these alone.
  await db.schema.createIndex('events_of_owner').on('events').columns(['owner_id', 'occurred_at_ms', 'id']).execute()
  await db.schema.createIndex('events_of_camera').on('events').columns(['camera_id', 'occurred_at_ms', 'id']).execute()
  await db.schema.createIndex('events_by_receipt').on('events').column('received_at_ms').execute()

  await db.schema
    .createTable('event_totals')
    .addColumn('camera_id', id, (column) => ofCamera(column).primaryKey())
    .addColumn('owner_id', id, required)
    .addColumn('count', 'bigint', required)
    .execute()
  await db.schema.createIndex('event_totals_of_owner').on('event_totals').columns(['owner_id', 'count']).execute()

  await db.schema
    .createTable('event_days')
    .addColumn('camera_id', id, (column) => ofCamera(column).notNull())
    .addColumn('day', 'integer', required)
    .addColumn('owner_id', id, required)
    .addColumn('count', 'bigint', required)
    .addPrimaryKeyConstraint('event_days_key', ['camera_id', 'day'])
    .execute()
  await db.schema.createIndex('event_days_of_owner').on('event_days').columns(['owner_id', 'day', 'count']).execute()

  await db.schema
    .createTable('outages')
    .addColumn('camera_id', id, (column) => ofCamera(column).primaryKey())
    .addColumn('since_ms', 'bigint', required)
    .execute()

  await tellChanges(db, 'events')
  await addHashDigests(db)
}

async function addHashDigests(db: Kysely<never>): Promise<void> {
  const { bytes } = columnTypes(db)
  await db.schema.alterTable('cameras').addColumn('event_hash_digest', bytes).execute()
  const { rows } = await sql<{ id: number; hash: string }>`select id, event_api_hash as hash from cameras`.execute(db)
  for (const { id, hash } of rows) {
    const digest = new Uint8Array(createHash('sha256').update(hash).digest())
    await sql`update cameras set event_hash_digest = ${digest} where id = ${id}`.execute(db)
  }
  await db.schema.createIndex('cameras_by_event_hash').unique().on('cameras').column('event_hash_digest').execute()
}

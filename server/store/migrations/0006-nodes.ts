// The servers of a database, one of which sends the emails of all, and what they count together.

import type { Kysely } from 'kysely'
import { columnTypes } from '../engine/column-types.ts'
import { tellChanges, tellWhatChanges } from '../postgres/postgres-triggers.ts'
import { keyOf, required } from './baseline/columns.ts'

export async function addNodes(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('nodes')
    .addColumn('name', 'text', (column) => column.primaryKey().notNull())
    .addColumn('incarnation', 'text', required)
    .addColumn('holder', 'text', required)
    .addColumn('address', 'text')
    .addColumn('has_cameras', 'integer', required)
    .addColumn('version', 'text', required)
    .addColumn('started_ms', 'bigint', required)
    .addColumn('expires_ms', 'bigint', required)
    .execute()
  await db.schema
    .createTable('event_rates')
    .addColumn('camera_id', columnTypes(db).id, keyOf('cameras.id'))
    .addColumn('full_ms', 'bigint', required)
    .execute()
  await db.schema
    .createTable('kept_values')
    .addColumn('digest', columnTypes(db).bytes, (column) => column.primaryKey().notNull())
    .addColumn('sealed', columnTypes(db).bytes)
    .addColumn('until_ms', 'bigint', required)
    .execute()
  await db.schema.createIndex('kept_values_until').on('kept_values').column('until_ms').execute()
  await tellWhatChanges(db, ['events', 'places', 'waiting_mails'])
  await tellChanges(db, 'waiting_mails', 'insert')
}

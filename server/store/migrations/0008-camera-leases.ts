// Which server has which camera, which folder of recordings, and which email to send.

import type { Kysely } from 'kysely'
import { columnTypes } from '../engine/column-types.ts'
import { tellChanges, tellWhatChanges } from '../postgres/postgres-triggers.ts'
import { flag, keyOf, required } from './baseline/columns.ts'

export async function addCameraLeases(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('camera_leases')
    .addColumn('camera_id', columnTypes(db).id, keyOf('cameras.id'))
    .addColumn('node', 'text', required)
    .addColumn('incarnation', 'text', required)
    .addColumn('epoch', 'integer', required)
    .addColumn('taken_ms', 'bigint', required)
    .execute()
  await db.schema
    .createTable('node_settings')
    .addColumn('name', 'text', (column) => column.primaryKey().notNull())
    .addColumn('is_draining', 'integer', flag)
    .addColumn('labels', 'text', required)
    .execute()
  await db.schema
    .createTable('camera_placements')
    .addColumn('camera_id', columnTypes(db).id, keyOf('cameras.id'))
    .addColumn('node', 'text')
    .addColumn('label', 'text')
    .execute()
  for (const table of ['places', 'copies']) await db.schema.alterTable(table).addColumn('node', 'text').execute()
  await db.schema
    .alterTable('nodes')
    .addColumn('processors', 'integer', (column) => column.notNull().defaultTo(1))
    .execute()
  await db.schema.alterTable('waiting_mails').addColumn('taken_by', 'text').execute()
  const tables = ['camera_leases', 'node_settings', 'camera_placements']
  await tellWhatChanges(db, ['events', 'places', 'waiting_mails', ...tables])
  for (const table of tables) await tellChanges(db, table)
}

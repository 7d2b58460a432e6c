// The servers of a database, one of which sends the emails of all.

import type { Kysely } from 'kysely'
import { tellChanges, tellWhatChanges } from '../postgres/postgres-triggers.ts'
import { required } from './baseline/columns.ts'

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
  await tellWhatChanges(db, ['events', 'places', 'waiting_mails'])
  await tellChanges(db, 'waiting_mails', 'insert')
}

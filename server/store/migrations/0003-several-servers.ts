// What several servers of one database must know of each other.

import type { Kysely } from 'kysely'
import { columnTypes } from '../engine/column-types.ts'
import { tellWhatChanges } from '../postgres/postgres-triggers.ts'
import { required } from './baseline/columns.ts'

export async function addSeveralServers(db: Kysely<never>): Promise<void> {
  const { id, bytes, identity } = columnTypes(db)
  await db.schema
    .createTable('used_once')
    .addColumn('digest', bytes, (column) => column.primaryKey().notNull())
    .addColumn('user_id', id)
    .addColumn('until_ms', 'bigint', required)
    .execute()
  await db.schema.createIndex('used_once_until').on('used_once').column('until_ms').execute()
  await db.schema.createIndex('used_once_of_user').on('used_once').column('user_id').execute()
  await db.schema
    .createTable('waiting_mails')
    .addColumn('id', id, identity)
    .addColumn('sealed', bytes, required)
    .addColumn('since_ms', 'bigint', required)
    .execute()
  await tellWhatChanges(db, ['events', 'places'])
}

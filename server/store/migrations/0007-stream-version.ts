// A recorded stream may be played by any server, and by one at a time. And the database tells which earlier versions of the
// program may still use it.

import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'
import { required } from './baseline/columns.ts'

export async function addStreamVersion(db: Kysely<never>): Promise<void> {
  await db.schema
    .alterTable('streams')
    .addColumn('version', 'integer', (column) => required(column).defaultTo(0))
    .execute()
  await db.schema.createTable('schema_support').addColumn('oldest_migration', 'text', required).execute()
  await (db as unknown as Kysely<Tables>).insertInto('schema_support').values({ oldest_migration: '' }).execute()
}

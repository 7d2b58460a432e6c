// Recorded streams know who asked for them with what, and their addresses do not suffice any more to be read here;
// accounts count how often what signs in to them has changed.

import type { ColumnDefinitionBuilder, Kysely } from 'kysely'
import { columnTypes } from '../engine/column-types.ts'

const required = (column: ColumnDefinitionBuilder) => column.notNull()

export async function bindCredentials(db: Kysely<never>): Promise<void> {
  const { id, bytes } = columnTypes(db)
  await db.schema
    .alterTable('users')
    .addColumn('credentials_version', 'integer', (column) => column.notNull().defaultTo(1))
    .execute()

  // Those there are end within a day, and do not tell what they were asked for with.
  await db.schema.dropTable('streams').execute()
  await db.schema
    .createTable('streams')
    .addColumn('hash', bytes, (column) => column.primaryKey())
    .addColumn('camera_id', id, (column) => column.notNull().references('cameras.id').onDelete('cascade'))
    .addColumn('user_id', id, (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('credential_kind', 'text', required)
    .addColumn('credential_id', id, required)
    .addColumn('start_ms', 'bigint', required)
    .addColumn('end_ms', 'bigint')
    .addColumn('created_at_ms', 'bigint', required)
    .addColumn('state', 'text', required)
    .addColumn('speed', 'double precision', required)
    .addColumn('held_entries', 'integer')
    .addColumn('current_ms', 'bigint')
    .execute()
  await db.schema.createIndex('streams_of_camera').on('streams').column('camera_id').execute()
  await db.schema.createIndex('streams_of_user').on('streams').column('user_id').execute()
}

// Browsers that are signed in.

import type { ColumnDefinitionBuilder, Kysely } from 'kysely'
import { columnTypes } from '../engine/column-types.ts'

const required = (column: ColumnDefinitionBuilder) => column.notNull()

export async function createSessionTables(db: Kysely<never>): Promise<void> {
  const { id, bytes } = columnTypes(db)
  await db.schema
    .createTable('sessions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('hash', bytes, (column) => column.notNull().unique())
    .addColumn('user_id', id, (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('created_at_ms', 'bigint', required)
    .addColumn('seen_at_ms', 'bigint', required)
    .addColumn('password_at_ms', 'bigint', required)
    .addColumn('ip', 'text', required)
    .addColumn('user_agent', 'text')
    .execute()
  await db.schema.createIndex('sessions_of_user').on('sessions').columns(['user_id', 'seen_at_ms']).execute()
}

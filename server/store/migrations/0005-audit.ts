// The audit log. No foreign keys: its rows outlive what they tell of.

import type { ColumnDefinitionBuilder, Kysely } from 'kysely'
import { columnTypes } from '../engine/column-types.ts'

const required = (column: ColumnDefinitionBuilder) => column.notNull()

export async function createAuditTable(db: Kysely<never>): Promise<void> {
  const { id, identity } = columnTypes(db)
  await db.schema
    .createTable('audit')
    .addColumn('id', id, identity)
    .addColumn('at_ms', 'bigint', required)
    .addColumn('event', 'text', required)
    .addColumn('user_id', id)
    .addColumn('subject', 'text')
    .addColumn('ip', 'text')
    .addColumn('user_agent', 'text')
    .addColumn('detail', 'text', required)
    .execute()
  await db.schema.createIndex('audit_of_user').on('audit').columns(['user_id', 'id']).execute()
  await db.schema.createIndex('audit_by_time').on('audit').column('at_ms').execute()
}

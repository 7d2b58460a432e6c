// The audit log. No foreign keys: its rows outlive what they tell of.

import type { ColumnDefinitionBuilder, Kysely } from 'kysely'

const identity = (column: ColumnDefinitionBuilder) => column.primaryKey().autoIncrement()
const required = (column: ColumnDefinitionBuilder) => column.notNull()

export async function createAuditTable(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('audit')
    .addColumn('id', 'integer', identity)
    .addColumn('at_ms', 'bigint', required)
    .addColumn('event', 'text', required)
    .addColumn('user_id', 'integer')
    .addColumn('subject', 'text')
    .addColumn('ip', 'text')
    .addColumn('user_agent', 'text')
    .addColumn('detail', 'text', required)
    .execute()
  await db.schema.createIndex('audit_of_user').on('audit').columns(['user_id', 'id']).execute()
  await db.schema.createIndex('audit_by_time').on('audit').column('at_ms').execute()
}

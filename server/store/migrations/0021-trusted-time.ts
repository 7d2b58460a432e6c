// By which time old things are deleted: see model/trusted-time.ts.

import type { ColumnDefinitionBuilder, Kysely } from 'kysely'

const required = (column: ColumnDefinitionBuilder) => column.notNull()

export async function createTrustedTime(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('trusted_time')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('time_ms', 'bigint', required)
    .addColumn('doubted_ms', 'bigint', required)
    .addColumn('least_ms', 'bigint', required)
    .execute()
}

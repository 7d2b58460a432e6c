// Failed attempts count on every server, and after a restart.

import type { Kysely } from 'kysely'
import { columnTypes } from '../engine/column-types.ts'
import { required } from './baseline/columns.ts'

export async function addFailedAttempts(db: Kysely<never>): Promise<void> {
  const { bytes } = columnTypes(db)
  await db.schema
    .createTable('failed_attempts')
    .addColumn('digest', bytes, (column) => column.primaryKey().notNull())
    .addColumn('count', 'integer', required)
    .addColumn('first_ms', 'bigint', required)
    .addColumn('latest_ms', 'bigint', required)
    .addColumn('until_ms', 'bigint', required)
    .execute()
  await db.schema.createIndex('failed_attempts_until').on('failed_attempts').column('until_ms').execute()
}

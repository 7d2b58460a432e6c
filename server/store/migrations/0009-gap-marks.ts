// When and why recordings were interrupted, and when they went on.

import type { Kysely } from 'kysely'
import { columnTypes } from '../engine/column-types.ts'

export async function createGapMarkTable(db: Kysely<never>): Promise<void> {
  const { id } = columnTypes(db)
  await db.schema
    .createTable('gap_marks')
    .addColumn('camera_id', id, (column) => column.notNull().references('cameras.id').onDelete('cascade'))
    .addColumn('at_ms', 'bigint', (column) => column.notNull())
    .addColumn('reason', 'text')
    .addPrimaryKeyConstraint('gap_marks_key', ['camera_id', 'at_ms'])
    .execute()
}

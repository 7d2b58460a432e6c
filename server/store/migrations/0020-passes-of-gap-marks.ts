// To which pass (model/clock-epoch.ts) a mark of a gap belongs. Those written before are taken for the first.

import { type Kysely, sql } from 'kysely'
import { columnTypes } from '../engine/column-types.ts'

export async function addPassesOfGapMarks(db: Kysely<never>): Promise<void> {
  const { id } = columnTypes(db)
  // SQLite does not change the key of a table.
  await db.schema
    .createTable('gap_marks_by_pass')
    .addColumn('camera_id', id, (column) => column.notNull().references('cameras.id').onDelete('cascade'))
    .addColumn('pass', 'integer', (column) => column.notNull())
    .addColumn('at_ms', 'bigint', (column) => column.notNull())
    .addColumn('reason', 'text')
    .addPrimaryKeyConstraint('gap_marks_in_order', ['camera_id', 'pass', 'at_ms'])
    .execute()
  await sql`insert into gap_marks_by_pass select camera_id, 0, at_ms, reason from gap_marks`.execute(db)
  await db.schema.dropTable('gap_marks').execute()
  await db.schema.alterTable('gap_marks_by_pass').renameTo('gap_marks').execute()
}

// Where a camera's clock was set back: see model/clock-epoch.ts. Nothing is known of footage from before, which is
// one pass.

import type { ColumnDefinitionBuilder, Kysely } from 'kysely'
import { columnTypes } from '../engine/column-types.ts'

const required = (column: ColumnDefinitionBuilder) => column.notNull()

export async function createPasses(db: Kysely<never>): Promise<void> {
  const { id } = columnTypes(db)
  await db.schema
    .createTable('passes')
    .addColumn('camera_id', id, required)
    .addColumn('from_id', id, required)
    .addColumn('pass', 'integer', required)
    .addPrimaryKeyConstraint('passes_of_camera', ['camera_id', 'from_id'])
    .execute()
}

// Times without a picture inside closed segments: see model/footage-hole.ts. Apart from `segments`, whose index answers
// timelines alone.

import type { ColumnDefinitionBuilder, Kysely } from 'kysely'
import { columnTypes } from '../engine/column-types.ts'

const required = (column: ColumnDefinitionBuilder) => column.notNull()

export async function createSegmentHoles(db: Kysely<never>): Promise<void> {
  const { id } = columnTypes(db)
  await db.schema
    .createTable('segment_holes')
    .addColumn('segment_id', id, (column) => column.primaryKey())
    .addColumn('camera_id', id, required)
    .addColumn('start_ms', 'bigint', required)
    .addColumn('holes', 'text', required)
    .execute()
  await db.schema.createIndex('segment_holes_by_time').on('segment_holes').columns(['camera_id', 'start_ms']).execute()
}

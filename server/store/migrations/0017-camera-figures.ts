// How well the pictures of cameras arrive, for the command line: see cameras/camera-meter.ts.

import type { ColumnDefinitionBuilder, Kysely } from 'kysely'
import { columnTypes } from '../engine/column-types.ts'

const required = (column: ColumnDefinitionBuilder) => column.notNull()

export async function createCameraFigures(db: Kysely<never>): Promise<void> {
  const { id } = columnTypes(db)
  await db.schema
    .createTable('camera_figures')
    .addColumn('camera_id', id, (column) => column.primaryKey().references('cameras.id').onDelete('cascade'))
    .addColumn('figures', 'text', required)
    .execute()
}

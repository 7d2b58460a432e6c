// Bytes of footage per camera, limits of users, checksums of files.

import { type ColumnDefinitionBuilder, type Kysely, sql } from 'kysely'
import { columnTypes } from '../engine/column-types.ts'
import { tellChanges } from '../postgres/postgres-triggers.ts'

const required = (column: ColumnDefinitionBuilder) => column.notNull()

export async function createFootageTables(db: Kysely<never>): Promise<void> {
  const { id } = columnTypes(db)
  await db.schema.alterTable('segments').addColumn('checksum', 'bigint').execute()

  await db.schema
    .createTable('footage')
    .addColumn('camera_id', id, (column) => column.primaryKey())
    .addColumn('bytes', 'bigint', required)
    .addColumn('segments', 'bigint', required)
    .execute()
  await sql`insert into footage (camera_id, bytes, segments)
    select camera_id, cast(sum(bytes) as bigint), count(*) from segments where is_closed = 1 group by camera_id`.execute(
    db,
  )

  await db.schema
    .createTable('user_limits')
    .addColumn('user_id', id, (column) => column.primaryKey().references('users.id').onDelete('cascade'))
    .addColumn('max_bytes', 'bigint', required)
    .execute()
  await tellChanges(db, 'user_limits')
}

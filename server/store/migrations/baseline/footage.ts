// The index of footage, and the recorded streams that viewers have open. Rows of footage have no foreign keys: they
// outlive their camera until the files are deleted.

import { type Kysely, sql } from 'kysely'
import { columnTypes } from '../../engine/column-types.ts'
import { belongsTo, required } from './columns.ts'

export async function createFootageTables(db: Kysely<never>): Promise<void> {
  const { id, bytes, identity } = columnTypes(db)
  await db.schema
    .createTable('segments')
    .addColumn('id', id, identity)
    .addColumn('camera_id', id, required)
    .addColumn('is_closed', 'integer', required)
    .addColumn('start_ms', 'bigint', required)
    .addColumn('end_ms', 'bigint', required)
    .addColumn('run_id', 'text', required)
    .addColumn('run_start90k', 'bigint', required)
    .addColumn('path', 'text', required)
    .addColumn('bytes', 'bigint', required)
    .addColumn('checksum', 'bigint')
    .addColumn('init_bytes', 'integer', required)
    .addColumn('codecs', 'text', required)
    .addColumn('width', 'integer', required)
    .addColumn('height', 'integer', required)
    .addColumn('init_hash', 'text', required)
    .addColumn('gap_reason', 'text')
    .execute()
  // The first three columns find segments. With the others, timelines and the size of the footage are read from the
  // index alone.
  await db.schema
    .createIndex('segments_by_time')
    .on('segments')
    .columns(['is_closed', 'camera_id', 'start_ms', 'end_ms', 'bytes', 'run_id', 'gap_reason'])
    .execute()
  // Every new stream asks whether its range has audio. Without this index, that would read each row of the range.
  await sql`create index segments_with_audio on segments (is_closed, camera_id, start_ms, end_ms) where codecs like '%,%'`.execute(
    db,
  )
  await db.schema
    .createTable('segment_fragments')
    .addColumn('segment_id', id, (column) => column.primaryKey())
    .addColumn('fragments', bytes, required)
    .execute()
  await db.schema
    .createTable('segment_holes')
    .addColumn('segment_id', id, (column) => column.primaryKey())
    .addColumn('camera_id', id, required)
    .addColumn('start_ms', 'bigint', required)
    .addColumn('holes', 'text', required)
    .execute()
  await db.schema.createIndex('segment_holes_by_time').on('segment_holes').columns(['camera_id', 'start_ms']).execute()
  await db.schema
    .createTable('footage')
    .addColumn('camera_id', id, (column) => column.primaryKey())
    .addColumn('bytes', 'bigint', required)
    .addColumn('segments', 'bigint', required)
    .execute()
  await db.schema
    .createTable('pending_deletions')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('path', 'text', required)
    .execute()
  await db.schema
    .createTable('clock_epochs')
    .addColumn('camera_id', id, required)
    .addColumn('from_id', id, required)
    .addColumn('epoch', 'integer', required)
    .addPrimaryKeyConstraint('clock_epochs_key', ['camera_id', 'from_id'])
    .execute()
  await db.schema
    .createTable('gap_marks')
    .addColumn('camera_id', id, belongsTo('cameras.id'))
    .addColumn('epoch', 'integer', required)
    .addColumn('at_ms', 'bigint', required)
    .addColumn('reason', 'text')
    .addPrimaryKeyConstraint('gap_marks_in_order', ['camera_id', 'epoch', 'at_ms'])
    .execute()
  await db.schema
    .createTable('trusted_time')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('time_ms', 'bigint', required)
    .addColumn('doubted_ms', 'bigint', required)
    .addColumn('least_ms', 'bigint', required)
    .execute()
}

export async function createStreamTable(db: Kysely<never>): Promise<void> {
  const { id, bytes } = columnTypes(db)
  await db.schema
    .createTable('streams')
    .addColumn('hash', bytes, (column) => column.primaryKey())
    .addColumn('camera_id', id, belongsTo('cameras.id'))
    .addColumn('user_id', id, belongsTo('users.id'))
    .addColumn('credential_kind', 'text', required)
    .addColumn('credential_id', id, required)
    .addColumn('start_ms', 'bigint', required)
    .addColumn('end_ms', 'bigint')
    .addColumn('created_at_ms', 'bigint', required)
    .addColumn('state', 'text', required)
    .addColumn('speed', 'double precision', required)
    .addColumn('listing', 'text')
    .addColumn('current_ms', 'bigint')
    .execute()
  await db.schema.createIndex('streams_of_camera').on('streams').column('camera_id').execute()
  await db.schema.createIndex('streams_of_user').on('streams').column('user_id').execute()
}

// Cameras, whether they are recorded, and who may see them.

import type { Kysely } from 'kysely'
import { columnTypes } from '../../engine/column-types.ts'
import { tellChanges } from '../../postgres/postgres-triggers.ts'
import { belongsTo, flag, keyOf, mayBelongTo, required, unique } from './columns.ts'

export async function createCameraTables(db: Kysely<never>): Promise<void> {
  const { id, bytes, identity } = columnTypes(db)
  await db.schema
    .createTable('cameras')
    .addColumn('id', id, identity)
    // No cascade: cameras are deleted with their footage before their owner.
    .addColumn('owner_id', id, (column) => column.notNull().references('users.id'))
    .addColumn('name', 'text', required)
    .addColumn('type', 'text', required)
    .addColumn('url', 'text', required)
    .addColumn('credentials', bytes)
    .addColumn('event_hash_sealed', 'text', unique)
    .addColumn('event_hash_digest', bytes)
    .addColumn('has_audio', 'integer', required)
    .addColumn('keeps_damaged', 'integer', flag)
    .addColumn('status', 'text', required)
    .addColumn('status_code', 'text')
    .addColumn('status_reason', 'text')
    .addColumn('status_detail', 'text')
    .addColumn('snapshot_at_ms', 'bigint')
    .addColumn('created_at_ms', 'bigint', required)
    .execute()
  await db.schema.createIndex('cameras_of_owner').on('cameras').columns(['owner_id', 'id']).execute()
  await db.schema.createIndex('cameras_by_event_hash').unique().on('cameras').column('event_hash_digest').execute()

  await db.schema
    .createTable('recordings')
    .addColumn('active_service_id', id, identity)
    .addColumn('camera_id', id, (column) => belongsTo('cameras.id')(column).unique())
    .addColumn('retention', 'text', required)
    .addColumn('max_bytes', 'bigint')
    .addColumn('status', 'text', required)
    .addColumn('status_detail', 'text')
    .addColumn('enabled_at_ms', 'bigint', required)
    .addColumn('deactivated_at_ms', 'bigint')
    .addColumn('records_until_ms', 'bigint')
    .execute()

  await db.schema
    .createTable('guests')
    .addColumn('id', id, identity)
    .addColumn('camera_id', id, belongsTo('cameras.id'))
    .addColumn('email', 'text', required)
    .addColumn('email_key', 'text', required)
    .addColumn('user_id', id, mayBelongTo('users.id'))
    .addColumn('can_view_rec', 'integer', required)
    .addColumn('share_notifications', 'integer', required)
    .addColumn('created_at_ms', 'bigint', required)
    .addColumn('opened_at_ms', 'bigint')
    .addUniqueConstraint('guests_once', ['camera_id', 'email_key'])
    .execute()
  await db.schema.createIndex('guests_of_user').on('guests').columns(['user_id', 'camera_id']).execute()
  await db.schema.createIndex('guests_by_address').on('guests').column('email_key').execute()

  await db.schema
    .createTable('camera_figures')
    .addColumn('camera_id', id, keyOf('cameras.id'))
    .addColumn('figures', 'text', required)
    .execute()
  await db.schema
    .createTable('outages')
    .addColumn('camera_id', id, keyOf('cameras.id'))
    .addColumn('since_ms', 'bigint', required)
    .execute()
  for (const table of ['cameras', 'recordings', 'guests']) await tellChanges(db, table)
}

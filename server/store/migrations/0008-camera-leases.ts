// Which server has which camera, which folder of recordings, and which email to send.

import type { Kysely } from 'kysely'
import { columnTypes } from '../engine/column-types.ts'
import { tellChanges, tellWhatChanges } from '../postgres/postgres-triggers.ts'
import { keyOf, required } from './baseline/columns.ts'

export async function addCameraLeases(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('camera_leases')
    .addColumn('camera_id', columnTypes(db).id, keyOf('cameras.id'))
    .addColumn('node', 'text', required)
    .addColumn('incarnation', 'text', required)
    .addColumn('epoch', 'integer', required)
    .addColumn('taken_ms', 'bigint', required)
    .execute()
  await db.schema.alterTable('places').addColumn('node', 'text').execute()
  await db.schema.alterTable('waiting_mails').addColumn('taken_by', 'text').execute()
  await tellWhatChanges(db, ['events', 'places', 'waiting_mails', 'camera_leases'])
  await tellChanges(db, 'camera_leases')
}

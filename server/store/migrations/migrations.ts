// The way from an empty file to the present tables, one step per release that changes them. A step, once released,
// never changes.

import { type ColumnDefinitionBuilder, type Kysely, type Migration, Migrator } from 'kysely'
import { AppError } from '../../base/error.ts'
import { columnTypes } from '../engine/column-types.ts'
import { createChangeFunction, tellChanges } from '../postgres/postgres-triggers.ts'
import type { Tables } from '../schema.ts'
import { createOAuthTables } from './0002-oauth.ts'
import { createSessionTables } from './0003-sessions.ts'
import { createAccountTables } from './0004-accounts.ts'
import { createAuditTable } from './0005-audit.ts'
import { bindCredentials } from './0006-bound-credentials.ts'
import { createGuestTable } from './0007-guests.ts'
import { createEventTables } from './0008-events.ts'
import { createGapMarkTable } from './0009-gap-marks.ts'
import { createFootageTables } from './0010-footage.ts'
import { addDashboard } from './0011-dashboard.ts'
import { addStreamListings } from './0012-stream-listings.ts'
import { addRecordingRuns } from './0013-recording-runs.ts'
import { addStatusCodes } from './0014-status-codes.ts'
import { indexEventCategories } from './0015-event-categories.ts'
import { createSegmentHoles } from './0016-segment-holes.ts'
import { createCameraFigures } from './0017-camera-figures.ts'
import { createPasses } from './0018-passes.ts'
import { addDamagedPictures } from './0019-damaged-pictures.ts'
import { addPassesOfGapMarks } from './0020-passes-of-gap-marks.ts'
import { createTrustedTime } from './0021-trusted-time.ts'
import { indexSegmentsWithSound } from './0022-segments-with-sound.ts'
import { addMakersOfTokens } from './0023-derived-tokens.ts'
import { renameEventHashes } from './0024-sealed-event-hashes.ts'
import { createSecondFactors } from './0025-second-factors.ts'
import { createIdentityTable } from './0026-identities.ts'
import { addFactorsOfSessions } from './0027-session-factors.ts'

/** In the order of their names. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-accounts-cameras-segments': { up: createFirstTables },
  '0002-oauth': { up: createOAuthTables },
  '0003-sessions': { up: createSessionTables },
  '0004-accounts': { up: createAccountTables },
  '0005-audit': { up: createAuditTable },
  '0006-bound-credentials': { up: bindCredentials },
  '0007-guests': { up: createGuestTable },
  '0008-events': { up: createEventTables },
  '0009-gap-marks': { up: createGapMarkTable },
  '0010-footage': { up: createFootageTables },
  '0011-dashboard': { up: addDashboard },
  '0012-stream-listings': { up: addStreamListings },
  '0013-recording-runs': { up: addRecordingRuns },
  '0014-status-codes': { up: addStatusCodes },
  '0015-event-categories': { up: indexEventCategories },
  '0016-segment-holes': { up: createSegmentHoles },
  '0017-camera-figures': { up: createCameraFigures },
  '0018-passes': { up: createPasses },
  '0019-damaged-pictures': { up: addDamagedPictures },
  '0020-passes-of-gap-marks': { up: addPassesOfGapMarks },
  '0021-trusted-time': { up: createTrustedTime },
  '0022-segments-with-sound': { up: indexSegmentsWithSound },
  '0023-derived-tokens': { up: addMakersOfTokens },
  '0024-sealed-event-hashes': { up: renameEventHashes },
  '0025-second-factors': { up: createSecondFactors },
  '0026-identities': { up: createIdentityTable },
  '0027-session-factors': { up: addFactorsOfSessions },
}

/** Brings the database up to date. Safe to run in two processes at once: the second waits, then finds nothing to do. */
export async function migrateToLatest(db: Kysely<Tables>): Promise<void> {
  const migrator = new Migrator({
    db: db as unknown as Kysely<never>,
    provider: { getMigrations: async () => ({ ...migrations }) },
    // Steps that were written at the same time reached some databases in another order; none needs what a later name
    // does.
    allowUnorderedMigrations: true,
  })
  const { error } = await migrator.migrateToLatest()
  if (error === undefined) return
  if (error instanceof AppError) throw error
  const hint = String(error).includes('previously executed migration')
    ? 'the database was written by a newer version of Nightjar; start that one, or restore a backup made before it'
    : 'the database could not be brought up to date'
  throw new AppError('unavailable', hint, { cause: error })
}

const required = (column: ColumnDefinitionBuilder) => column.notNull()

async function createFirstTables(db: Kysely<never>): Promise<void> {
  const { id, bytes, identity } = columnTypes(db)
  await db.schema
    .createTable('users')
    .addColumn('id', id, identity)
    .addColumn('email', 'text', required)
    .addColumn('email_key', 'text', (column) => column.notNull().unique())
    .addColumn('first_name', 'text', required)
    .addColumn('last_name', 'text', required)
    .addColumn('phone', 'text')
    .addColumn('password_hash', 'text', required)
    .addColumn('disabled_at_ms', 'bigint')
    .addColumn('created_at_ms', 'bigint', required)
    .execute()

  await db.schema
    .createTable('cameras')
    .addColumn('id', id, identity)
    .addColumn('owner_id', id, (column) => column.notNull().references('users.id'))
    .addColumn('name', 'text', required)
    .addColumn('type', 'text', required)
    .addColumn('url', 'text', required)
    .addColumn('credentials', bytes)
    .addColumn('event_api_hash', 'text', (column) => column.notNull().unique())
    .addColumn('has_audio', 'integer', required)
    .addColumn('status', 'text', required)
    .addColumn('status_reason', 'text')
    .addColumn('status_detail', 'text')
    .addColumn('snapshot_at_ms', 'bigint')
    .addColumn('created_at_ms', 'bigint', required)
    .execute()
  await db.schema.createIndex('cameras_of_owner').on('cameras').columns(['owner_id', 'id']).execute()

  await db.schema
    .createTable('recordings')
    .addColumn('active_service_id', id, identity)
    .addColumn('camera_id', id, (column) => column.notNull().unique().references('cameras.id').onDelete('cascade'))
    .addColumn('retention', 'text', required)
    .addColumn('max_bytes', 'bigint')
    .addColumn('status', 'text', required)
    .addColumn('status_detail', 'text')
    .addColumn('enabled_at_ms', 'bigint', required)
    .addColumn('deactivated_at_ms', 'bigint')
    .execute()

  await db.schema
    .createTable('tokens')
    .addColumn('id', id, identity)
    .addColumn('user_id', id, (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('name', 'text', required)
    .addColumn('hash', bytes, (column) => column.notNull().unique())
    .addColumn('prefix', 'text', required)
    .addColumn('last_four', 'text', required)
    .addColumn('scope', 'text', required)
    .addColumn('is_checksum_valid', 'integer', required)
    .addColumn('created_at_ms', 'bigint', required)
    .addColumn('last_used_at_ms', 'bigint')
    .addColumn('revoked_at_ms', 'bigint')
    .execute()
  await db.schema.createIndex('tokens_of_user').on('tokens').column('user_id').execute()

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
    .addColumn('init_bytes', 'integer', required)
    .addColumn('codecs', 'text', required)
    .addColumn('width', 'integer', required)
    .addColumn('height', 'integer', required)
    .addColumn('init_hash', 'text', required)
    .addColumn('gap_reason', 'text')
    .execute()
  // The first three find; the rest is what a timeline and the size of the footage are answered from without touching
  // the rows.
  await db.schema
    .createIndex('segments_by_time')
    .on('segments')
    .columns(['is_closed', 'camera_id', 'start_ms', 'end_ms', 'bytes', 'run_id', 'gap_reason'])
    .execute()

  await db.schema
    .createTable('segment_fragments')
    .addColumn('segment_id', id, (column) => column.primaryKey())
    .addColumn('fragments', bytes, required)
    .execute()

  await db.schema
    .createTable('garbage')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('path', 'text', required)
    .execute()

  await db.schema
    .createTable('streams')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('camera_id', id, (column) => column.notNull().references('cameras.id').onDelete('cascade'))
    .addColumn('user_id', id, (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('start_ms', 'bigint', required)
    .addColumn('end_ms', 'bigint')
    .addColumn('created_at_ms', 'bigint', required)
    .addColumn('state', 'text', required)
    .addColumn('speed', 'double precision', required)
    .addColumn('held_entries', 'integer')
    .addColumn('current_ms', 'bigint')
    .execute()
  await db.schema.createIndex('streams_of_camera').on('streams').column('camera_id').execute()

  await db.schema
    .createTable('secret_check')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('sealed', bytes, required)
    .execute()

  await createChangeFunction(db)
  for (const table of ['users', 'cameras', 'recordings', 'tokens']) await tellChanges(db, table)
}

// Migrations: the steps from an empty database to the present tables, one per release that changes them. A released
// step never changes, and new steps have higher numbers.

import { type Kysely, type Migration, Migrator, sql } from 'kysely'
import { AppError } from '../../base/error.ts'
import type { Tables } from '../schema.ts'
import { createBaseline } from './0001-baseline.ts'
import { addPlaces } from './0002-places.ts'
import { addSeveralServers } from './0003-several-servers.ts'
import { addTokenExpiry } from './0004-token-expiry.ts'
import { addFailedAttempts } from './0005-failed-attempts.ts'
import { addNodes } from './0006-nodes.ts'
import { addStreamVersion } from './0007-stream-version.ts'
import { addCameraLeases } from './0008-camera-leases.ts'

export const migrations: Readonly<Record<string, Migration>> = {
  '0001-baseline': { up: createBaseline },
  '0002-places': { up: addPlaces },
  '0003-several-servers': { up: addSeveralServers },
  '0004-token-expiry': { up: addTokenExpiry },
  '0005-failed-attempts': { up: addFailedAttempts },
  '0006-nodes': { up: addNodes },
  '0007-stream-version': { up: addStreamVersion },
  '0008-camera-leases': { up: addCameraLeases },
}

/** The first step of the versions before the first release, whose databases cannot be upgraded. */
const unreleased = '0001-accounts-cameras-segments'

/**
 * What the previous release ends with. Later steps only add what it does not look at, so that two versions run side by side
 * while servers are upgraded one after the other: what is no longer used is removed a release later.
 */
export const oldestSupported = '0007-stream-version'

const own = Object.keys(migrations)

/**
 * Brings the database up to date. Two processes may do so at once: the second waits, then finds nothing to do. A database
 * of a newer program stays as it is, if that supports this one. Throws 'unavailable' for one of another version.
 */
export async function migrateToLatest(db: Kysely<Tables>): Promise<void> {
  if (await isNewer(db)) return
  const migrator = new Migrator({
    db: db as unknown as Kysely<never>,
    provider: { getMigrations: async () => ({ ...migrations }) },
  })
  const { error } = await migrator.migrateToLatest()
  if (error === undefined) {
    // Commands open the database beside a server, and must not wait to write what is there already.
    if ((await readOldest(db)) < oldestSupported)
      await db.updateTable('schema_support').set({ oldest_migration: oldestSupported }).execute()
    return
  }
  if (error instanceof AppError) throw error
  throw new AppError('unavailable', describe(String(error)), { cause: error })
}

async function readOldest(db: Kysely<Tables>): Promise<string> {
  const row = await db.selectFrom('schema_support').select('oldest_migration').executeTakeFirstOrThrow()
  return row.oldest_migration
}

/** Throws 'unavailable' if it is of a program that does not support this one. */
async function isNewer(db: Kysely<Tables>): Promise<boolean> {
  const done = sql<{ name: string }>`select name from kysely_migration`.execute(db)
  // A new database has no such table. Whatever else is wrong, the migrator finds too.
  const names = await done.then(
    ({ rows }) => rows.map(({ name }) => name),
    () => [],
  )
  const unknown = names.filter((name) => !own.includes(name))
  const latest = own.at(-1)!
  // What is older and unknown is refused by the migrator.
  if (unknown.length === 0 || unknown.some((name) => name < latest)) return false
  if (latest >= (await readOldest(db))) return true
  throw new AppError('unavailable', describe('previously executed migration'))
}

function describe(error: string): string {
  if (error.includes(unreleased))
    return 'the database was written by a version before the first release and cannot be upgraded; use an empty data folder'
  if (error.includes('previously executed migration'))
    return 'the database was written by a newer version of Nightjar; start that one, or restore a backup made before it'
  return 'the database could not be brought up to date'
}

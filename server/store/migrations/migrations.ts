// Migrations: the steps from an empty database to the present tables, one per release that changes them. A released
// step never changes, and new steps have higher numbers.

import { type Kysely, type Migration, Migrator } from 'kysely'
import { AppError } from '../../base/error.ts'
import type { Tables } from '../schema.ts'
import { createBaseline } from './0001-baseline.ts'
import { addPlaces } from './0002-places.ts'
import { addSeveralServers } from './0003-several-servers.ts'
import { addTokenExpiry } from './0004-token-expiry.ts'
import { addFailedAttempts } from './0005-failed-attempts.ts'
import { addNodes } from './0006-nodes.ts'
import { addStreamVersion } from './0007-stream-version.ts'

const migrations: Readonly<Record<string, Migration>> = {
  '0001-baseline': { up: createBaseline },
  '0002-places': { up: addPlaces },
  '0003-several-servers': { up: addSeveralServers },
  '0004-token-expiry': { up: addTokenExpiry },
  '0005-failed-attempts': { up: addFailedAttempts },
  '0006-nodes': { up: addNodes },
  '0007-stream-version': { up: addStreamVersion },
}

/** The first step of the versions before the first release, whose databases cannot be upgraded. */
const unreleased = '0001-accounts-cameras-segments'

/**
 * Brings the database up to date. Two processes may do so at once: the second waits, then finds nothing to do. Throws
 * 'unavailable' for a database of another version.
 */
export async function migrateToLatest(db: Kysely<Tables>): Promise<void> {
  const migrator = new Migrator({
    db: db as unknown as Kysely<never>,
    provider: { getMigrations: async () => ({ ...migrations }) },
  })
  const { error } = await migrator.migrateToLatest()
  if (error === undefined) return
  if (error instanceof AppError) throw error
  throw new AppError('unavailable', describe(String(error)), { cause: error })
}

function describe(error: string): string {
  if (error.includes(unreleased))
    return 'the database was written by a version before the first release and cannot be upgraded; use an empty data folder'
  if (error.includes('previously executed migration'))
    return 'the database was written by a newer version of Nightjar; start that one, or restore a backup made before it'
  return 'the database could not be brought up to date'
}

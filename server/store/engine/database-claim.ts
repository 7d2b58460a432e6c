// One server with cameras per SQLite database, and with PostgreSQL several of this version, or one command that must be
// alone. Most commands take no lock and work beside a server.

import { readFile, realpath, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import { isPostgresUrl } from '../postgres/postgres-url.ts'
import { createClaimConflict, type DatabaseClaim } from './claim.ts'
import { lockFile } from './file-lock.ts'

export type ClaimOptions = {
  /** As for `openStore`. */
  readonly database: string
  /** The data folder, which identifies this server in the messages of others. */
  readonly dataDir: string
  /** Others that say so too may hold the database at the same time. SQLite databases are never shared. */
  readonly isShared?: boolean
  readonly clock: Clock
  readonly log: Logger
}

/** Call before the database is opened. Throws 'conflict' naming the server that holds it, and 'unavailable'. */
export async function claimDatabase(options: ClaimOptions): Promise<DatabaseClaim> {
  const { database, dataDir, isShared = false, clock, log } = options
  if (!isPostgresUrl(database)) return claimFile(database, dataDir)
  const { claimPostgres } = await import('../postgres/postgres-claim.ts')
  return claimPostgres({ url: database, holder: describeHolder(dataDir), isShared, clock, log })
}

function describeHolder(dataDir: string): string {
  return `on ${hostname()}, data in ${dataDir}`
}

/** Resolves links; the file may not exist yet. */
async function findRealPath(file: string): Promise<string> {
  try {
    return await realpath(file)
  } catch {
    return join(await realpath(dirname(file)).catch(() => dirname(file)), basename(file))
  }
}

async function claimFile(database: string, dataDir: string): Promise<DatabaseClaim> {
  const file = await findRealPath(database)
  const note = `${file}.server`
  let lock: Disposable | undefined
  try {
    lock = lockFile(`${file}.lock`)
  } catch (cause) {
    throw new AppError('unavailable', `the database ${database} cannot be locked`, { cause })
  }
  if (!lock)
    throw createClaimConflict(database, await readFile(note, 'utf8').catch(() => 'which does not tell its name'))
  await writeFile(note, describeHolder(dataDir), { mode: 0o600 })
  return { lost: new Promise(() => {}), [Symbol.asyncDispose]: async () => lock[Symbol.dispose]() }
}

// A file of SQLite as the store's database: one connection, shared with other processes through the file alone.

import { open } from 'node:fs/promises'
import type { DatabaseSync } from 'node:sqlite'
import { Kysely, sql } from 'kysely'
import { AppError } from '../base/error.ts'
import { silentLogger } from '../base/log.ts'
import type { Database, OpenOptions } from './database.ts'
import { createLogSync } from './log-sync.ts'
import { migrateToLatest } from './migrations.ts'
import type { Tables } from './schema.ts'
import { openSqliteWatch } from './sqlite-changes.ts'
import { openCheckpoints } from './sqlite-checkpoints.ts'
import { createSqliteDialect, openSqlite } from './sqlite-dialect.ts'

const checkpointIntervalMs = 5000

/** Created, readable by its owner alone, when missing. Throws 'unavailable'. */
export async function openSqliteDatabase(file: string, options: OpenOptions): Promise<Database> {
  const { db, connection } = await openFile(file)
  try {
    await migrateToLatest(db)
  } catch (error) {
    await db.destroy()
    throw error
  }
  const readForeignVersion = async () => {
    const { rows } = await sql<{ data_version: number }>`pragma data_version`.execute(db)
    return rows[0]!.data_version
  }
  const setAutoCheckpoint = (pages: number) => connection.exec(`pragma wal_autocheckpoint = ${pages}`)
  const { isServer = false, log = silentLogger } = options
  const settings = { file, intervalMs: checkpointIntervalMs, log, setAutoCheckpoint }
  const checkpoints = isServer ? await openCheckpoints(settings) : undefined
  const logSync = createLogSync(file)
  return {
    db,
    sync: () => logSync.sync(),
    openWatch: (options) => openSqliteWatch({ ...options, readForeignVersion }),
    async close() {
      await checkpoints?.close()
      await logSync.close()
      await db.destroy()
    },
  }
}

async function openFile(file: string): Promise<{ db: Kysely<Tables>; connection: DatabaseSync }> {
  try {
    // SQLite gives its own files the modes of the database's, so the mode is right from the first byte.
    await (await open(file, 'a', 0o600)).close()
    const connection = openSqlite(file)
    return { db: new Kysely<Tables>({ dialect: createSqliteDialect(connection) }), connection }
  } catch (cause) {
    throw new AppError('unavailable', `the database ${file} cannot be opened`, { cause })
  }
}

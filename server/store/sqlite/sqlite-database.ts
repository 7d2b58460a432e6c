// An SQLite file as the store's database: one connection. Other processes share only the file.

import { open } from 'node:fs/promises'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely, sql } from 'kysely'
import { AppError } from '../../base/error.ts'
import { type Logger, silentLogger } from '../../base/log.ts'
import type { Database, OpenOptions } from '../engine/database.ts'
import { isSyncFailure, SyncLoss } from '../engine/sync-loss.ts'
import { migrateToLatest } from '../migrations/migrations.ts'
import type { Tables } from '../schema.ts'
import { setOldLogAside } from './database-copy.ts'
import { createLogSync } from './log-sync.ts'
import { openSqliteWatch } from './sqlite-changes.ts'
import { openCheckpoints } from './sqlite-checkpoints.ts'
import { createSqliteDialect, openSqlite } from './sqlite-dialect.ts'
import { explainSqliteFailure } from './sqlite-failure.ts'

const checkpointIntervalMs = 5000

/** Creates a missing file, readable only by its owner. Throws 'unavailable'. */
export async function openSqliteDatabase(file: string, options: OpenOptions): Promise<Database> {
  const loss = new SyncLoss(file)
  const { db, connection } = await openFile(file, loss, options.log ?? silentLogger)
  try {
    if (options.isServer) proveLog(connection, loss)
    await migrateToLatest(db)
  } catch (error) {
    if (!loss.isLost) await db.destroy()
    throw error
  }
  const readForeignVersion = async () => {
    const { rows } = await sql<{ data_version: number }>`pragma data_version`.execute(db)
    return rows[0]!.data_version
  }
  const setAutoCheckpoint = (pages: number) => connection.exec(`pragma wal_autocheckpoint = ${pages}`)
  const { isServer = false, log = silentLogger } = options
  const settings = { file, intervalMs: checkpointIntervalMs, log, loss, setAutoCheckpoint }
  const checkpoints = isServer ? await openCheckpoints(settings) : undefined
  const logSync = createLogSync(file, loss)
  return {
    db,
    sync: () => logSync.sync(),
    settle: () => logSync.sync(),
    openWatch: (options) => openSqliteWatch({ ...options, readForeignVersion }),
    lost: loss.lost,
    onReplaced: () => {},
    async close() {
      await checkpoints?.close()
      await logSync.close()
      // Closing runs a checkpoint too, which would remove the log that the next start needs.
      if (!loss.isLost) await db.destroy()
    },
  }
}

/**
 * At the start, the whole log is written into the database and the disk must confirm it: the previous process may have
 * ended because a sync failed, and nothing else proves that the log is on the disk.
 */
function proveLog(connection: DatabaseSync, loss: SyncLoss): void {
  try {
    connection.exec('pragma wal_checkpoint(truncate)')
  } catch (error) {
    throw isSyncFailure(error) ? loss.declare(error) : explainSqliteFailure(error)
  }
}

const busy = 5
const maxOpenMs = 5000

/** While another process gives a fresh database its journal, SQLite fails at once instead of waiting. */
async function openWhenFree(file: string): Promise<DatabaseSync> {
  for (const untilMs = performance.now() + maxOpenMs; ; ) {
    try {
      return openSqlite(file)
    } catch (error) {
      const isBusy = (error as { errcode?: number }).errcode === busy
      if (!isBusy || performance.now() > untilMs) throw error
      await sleep(50)
    }
  }
}

async function openFile(
  file: string,
  loss: SyncLoss,
  log: Logger,
): Promise<{ db: Kysely<Tables>; connection: DatabaseSync }> {
  try {
    await setOldLogAside(file, log)
    // SQLite gives its other files the mode of the database file, so the mode is right from the first byte.
    await (await open(file, 'a', 0o600)).close()
    const connection = await openWhenFree(file)
    return { db: new Kysely<Tables>({ dialect: createSqliteDialect(connection, { loss }) }), connection }
  } catch (cause) {
    throw new AppError('unavailable', `the database ${file} cannot be opened`, { cause })
  }
}

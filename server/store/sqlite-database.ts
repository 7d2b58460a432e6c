// A file of SQLite as the store's database: one connection, shared with other processes through the file alone.

import { open } from 'node:fs/promises'
import { Kysely, sql } from 'kysely'
import { AppError } from '../base/error.ts'
import type { Database } from './database.ts'
import { createLogSync } from './log-sync.ts'
import { migrateToLatest } from './migrations.ts'
import type { Tables } from './schema.ts'
import { openSqliteWatch } from './sqlite-changes.ts'
import { createSqliteDialect, openSqlite } from './sqlite-dialect.ts'

/** Created, readable by its owner alone, when missing. Throws 'unavailable'. */
export async function openSqliteDatabase(file: string): Promise<Database> {
  const db = await openFile(file)
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
  const log = createLogSync(file)
  return {
    db,
    sync: () => log.sync(),
    openWatch: (options) => openSqliteWatch({ ...options, readForeignVersion }),
    async close() {
      await log.close()
      await db.destroy()
    },
  }
}

async function openFile(file: string): Promise<Kysely<Tables>> {
  try {
    // SQLite gives its own files the modes of the database's, so the mode is right from the first byte.
    await (await open(file, 'a', 0o600)).close()
    return new Kysely<Tables>({ dialect: createSqliteDialect(openSqlite(file)) })
  } catch (cause) {
    throw new AppError('unavailable', `the database ${file} cannot be opened`, { cause })
  }
}

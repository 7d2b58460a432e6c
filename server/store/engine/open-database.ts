// Opens the database that the setting names, SQLite or PostgreSQL. The code for the other one is not loaded.

import { isPostgresUrl } from '../postgres/postgres-url.ts'
import type { Database, OpenOptions } from './database.ts'

/** `database`: a file or `postgres://…`. Migrates the tables. Throws 'unavailable'. */
export async function openDatabase(database: string, options: OpenOptions = {}): Promise<Database> {
  if (isPostgresUrl(database)) {
    const { openPostgresDatabase } = await import('../postgres/postgres-database.ts')
    return openPostgresDatabase(database)
  }
  const { openSqliteDatabase } = await import('../sqlite/sqlite-database.ts')
  return openSqliteDatabase(database, options)
}

// Which of the two databases a setting means. The code of the other one is not even loaded.

import { isPostgresUrl } from '../postgres/postgres-url.ts'
import type { Database, OpenOptions } from './database.ts'

/** `database`: a file, or `postgres://…`. Brings the tables up to date. Throws 'unavailable'. */
export async function openDatabase(database: string, options: OpenOptions = {}): Promise<Database> {
  if (isPostgresUrl(database)) {
    const { openPostgresDatabase } = await import('../postgres/postgres-database.ts')
    return openPostgresDatabase(database)
  }
  const { openSqliteDatabase } = await import('../sqlite/sqlite-database.ts')
  return openSqliteDatabase(database, options)
}

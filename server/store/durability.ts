// How much a write is worth. The rule is "on the disk before the caller hears of it"; this is the exception.

import { type Kysely, sql } from 'kysely'
import { isPostgres } from './database.ts'
import type { Tables } from './schema.ts'

/**
 * A write that survives the death of the process but may be lost, in order and whole, when the machine loses power: for
 * what is written often and is known again after a start (status, times of last use, the closing of a recorded file).
 * As part of a transaction it is worth what the transaction is.
 *
 * On PostgreSQL it is a write like all others: only its caller waits for the disk there, while a file of SQLite is
 * synced by the thread that everything else waits for.
 */
export function writeRelaxed<T>(db: Kysely<Tables>, write: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
  if (db.isTransaction || isPostgres(db)) return write(db)
  return db.connection().execute(async (connection) => {
    await sql`pragma synchronous = normal`.execute(connection)
    try {
      return await write(connection)
    } finally {
      await sql`pragma synchronous = full`.execute(connection)
    }
  })
}

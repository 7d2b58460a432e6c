// Durability of writes. The rule is "on the disk before the caller continues"; this is the exception.

import { type Kysely, sql } from 'kysely'
import type { Tables } from '../schema.ts'
import { isPostgres } from './database.ts'

/**
 * A write that survives a crash of the process, but may be lost, in order and completely, in a power failure. For what
 * is written often and known again after a start (status, times of last use, the closing of a recorded file). Within a
 * transaction it is as durable as the transaction.
 *
 * With PostgreSQL it is an ordinary write, because only its caller waits for the disk; SQLite syncs its file in the
 * thread that everything else waits for.
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

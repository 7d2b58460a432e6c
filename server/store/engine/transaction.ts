// Several statements as one: all of them happen, or none. What a table reads with `forUpdate()` inside stays as read
// until the end.

import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'
import { isTransactionConflict } from './constraint.ts'

/** PostgreSQL ends one of two transactions that wait for each other. Whoever loses again and again is told. */
const maxAttempts = 5

/**
 * Runs `work` in a write transaction, or in the one that `db` already is. `work` uses the database only through its
 * argument, is short, and touches nothing but the database, since it is run again when it lost against another
 * transaction.
 *
 * On SQLite it is alone from its first statement. On PostgreSQL others run beside it, so what a write depends on is
 * read with `forUpdate()`, or tested by the writing statement itself (`update … where generation = ?`), which needs no
 * transaction. When a statement throws, the transaction is over: let the error pass.
 */
export async function inTransaction<T>(
  db: Kysely<Tables>,
  work: (transaction: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  if (db.isTransaction) return work(db)
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().execute(work)
    } catch (error) {
      if (attempt === maxAttempts || !isTransactionConflict(error)) throw error
    }
  }
}

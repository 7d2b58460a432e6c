// Transactions: all statements take effect, or none. Rows that a table reads with `forUpdate()` do not change until the
// end.

import type { Kysely } from 'kysely'
import type { Tables } from '../schema.ts'
import { isTransactionConflict } from './constraint.ts'

/**
 * PostgreSQL aborts one of two transactions that wait for each other. After this many attempts, the caller gets the
 * error.
 */
const maxAttempts = 5

/**
 * Runs `work` in a write transaction, or in the present one if `db` is a transaction. `work` uses the database only
 * through its argument, is short, and has no other effects, because it runs again if another transaction made it
 * fail.
 *
 * On SQLite it runs alone from its first statement. On PostgreSQL others run concurrently, so rows that a write depends
 * on are read with `forUpdate()` or tested by the writing statement itself (`update … where generation = ?`), which
 * needs no transaction. If a statement throws, the transaction has ended: do not catch the error inside.
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

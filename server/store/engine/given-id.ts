// Rows whose id the caller chose. SQLite's autoincrement continues from the highest id ever used. PostgreSQL's identity
// columns know only the ids that they generated, so they must be advanced.

import { type Kysely, sql } from 'kysely'
import type { Tables } from '../schema.ts'
import { isPostgres } from './database.ts'
import { inTransaction } from './transaction.ts'

/** Runs `insert`; afterwards the table generates only ids above `id`. `id` is undefined if the table generates it. */
export async function insertWithId<T>(
  db: Kysely<Tables>,
  { table, id }: { table: 'users' | 'cameras'; id: number | undefined },
  insert: (db: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  if (id === undefined || !isPostgres(db)) return insert(db)
  return inTransaction(db, async (transaction) => {
    // Locks the table, so that a concurrent insert cannot set the sequence back.
    await sql`lock table ${sql.table(table)} in share row exclusive mode`.execute(transaction)
    const result = await insert(transaction)
    await sql`
      select setval(sequence, greatest(coalesce(pg_sequence_last_value(sequence), 1), ${sql.lit(id)}))
      from (select pg_get_serial_sequence(${sql.lit(table)}, 'id')::regclass as sequence) as ids`.execute(transaction)
    return result
  })
}

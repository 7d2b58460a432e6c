// Rows whose id the caller chose. SQLite's autoincrement goes on from the highest id there ever was; PostgreSQL's
// identity columns know only of those they gave themselves, so they are told.

import { type Kysely, sql } from 'kysely'
import { isPostgres } from './database.ts'
import type { Tables } from './schema.ts'
import { inTransaction } from './transaction.ts'

/** Runs `insert`; afterwards the table gives ids above `id` only. `id` is undefined when the table is to choose. */
export async function insertWithId<T>(
  db: Kysely<Tables>,
  { table, id }: { table: 'users' | 'cameras'; id: number | undefined },
  insert: (db: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  if (id === undefined || !isPostgres(db)) return insert(db)
  return inTransaction(db, async (transaction) => {
    // Nobody else takes an id meanwhile, so that the sequence cannot be set back behind one.
    await sql`lock table ${sql.table(table)} in share row exclusive mode`.execute(transaction)
    const result = await insert(transaction)
    await sql`
      select setval(sequence, greatest(coalesce(pg_sequence_last_value(sequence), 1), ${sql.lit(id)}))
      from (select pg_get_serial_sequence(${sql.lit(table)}, 'id')::regclass as sequence) as ids`.execute(transaction)
    return result
  })
}

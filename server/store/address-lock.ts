// Holds an e-mail address for the rest of a transaction, so that an account that gets the address and a guest who is
// invited by it find each other even when both come at the same moment.

import { type Kysely, sql } from 'kysely'
import { isPostgres } from './database.ts'
import type { Tables } from './schema.ts'

/** First half of the key: no other advisory lock of ours has two halves. */
const addresses = 7

/** `key`: `emailKey` of the address. On SQLite a write transaction is alone as it is. */
export async function lockAddress(transaction: Kysely<Tables>, key: string): Promise<void> {
  if (!isPostgres(transaction)) return
  await sql`select pg_advisory_xact_lock(${sql.lit(addresses)}, hashtext(${key}))`.execute(transaction)
}

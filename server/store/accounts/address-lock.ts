// Locks an email address until the end of a transaction, so that creating an account with the address and inviting a
// guest by it do not miss each other when they happen at the same time.

import { type Kysely, sql } from 'kysely'
import { isPostgres } from '../engine/database.ts'
import type { Tables } from '../schema.ts'

/** First half of the key; no other advisory lock of ours has two halves. */
const addresses = 7

/** `key`: `emailKey` of the address. With SQLite, a write transaction is always exclusive. */
export async function lockAddress(transaction: Kysely<Tables>, key: string): Promise<void> {
  if (!isPostgres(transaction)) return
  await sql`select pg_advisory_xact_lock(${sql.lit(addresses)}, hashtext(${key}))`.execute(transaction)
}

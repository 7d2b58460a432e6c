// The hashes with which cameras report events, so far in clear. What seals them is not known here: event-hash.ts does
// it when the store is opened. The column has another name so that a program of before does not take what is sealed for
// a hash.

import type { Kysely } from 'kysely'

export async function renameEventHashes(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable('cameras').renameColumn('event_api_hash', 'event_hash_sealed').execute()
}

// Personal access tokens can expire.

import type { Kysely } from 'kysely'

export async function addTokenExpiry(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable('tokens').addColumn('expires_at_ms', 'bigint').execute()
}

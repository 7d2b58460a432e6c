// What keeps a camera offline, exactly, in a word for programs; the sentence for people stands beside it.

import type { Kysely } from 'kysely'

export async function addStatusCodes(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable('cameras').addColumn('status_code', 'text').execute()
}

// Which second factor each session was signed in with. Of sessions of before it is not known.

import type { Kysely } from 'kysely'

export async function addFactorsOfSessions(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable('sessions').addColumn('second_factor', 'text').execute()
}

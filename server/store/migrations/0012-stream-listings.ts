// What the playlist of a recorded stream has said, in place of how many entries it is held at: it grows with its
// player.

import type { Kysely } from 'kysely'

export async function addStreamListings(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable('streams').addColumn('listing', 'text').execute()
  await db.schema.alterTable('streams').dropColumn('held_entries').execute()
}

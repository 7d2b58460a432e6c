// Events of one category are found as fast as all: in indices of their own.

import type { Kysely } from 'kysely'

export async function indexEventCategories(db: Kysely<never>): Promise<void> {
  for (const whose of ['owner', 'camera'] as const) {
    await db.schema
      .createIndex(`events_of_${whose}_by_category`)
      .on('events')
      .columns([`${whose}_id`, 'category', 'occurred_at_ms', 'id'])
      .execute()
  }
}

// What a personal token was made with, so that it ends with that. Those there are keep no such thing: nobody wrote it
// down.

import type { Kysely } from 'kysely'
import { columnTypes } from '../engine/column-types.ts'

export async function addMakersOfTokens(db: Kysely<never>): Promise<void> {
  const { id } = columnTypes(db)
  for (const [name, parent] of [
    ['parent_id', 'tokens'],
    ['grant_id', 'oauth_grants'],
  ] as const) {
    await db.schema
      .alterTable('tokens')
      .addColumn(name, id, (column) => column.references(`${parent}.id`).onDelete('cascade'))
      .execute()
    await db.schema.createIndex(`tokens_by_${name}`).on('tokens').column(name).execute()
  }
}

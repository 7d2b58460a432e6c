// Whether pictures damaged by loss are kept, for each camera.

import type { Kysely } from 'kysely'

export async function addDamagedPictures(db: Kysely<never>): Promise<void> {
  await db.schema
    .alterTable('cameras')
    .addColumn('keeps_damaged', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
}

// A recorded stream may be played by any server, and by one at a time.

import type { Kysely } from 'kysely'
import { required } from './baseline/columns.ts'

export async function addStreamVersion(db: Kysely<never>): Promise<void> {
  await db.schema
    .alterTable('streams')
    .addColumn('version', 'integer', (column) => required(column).defaultTo(0))
    .execute()
}

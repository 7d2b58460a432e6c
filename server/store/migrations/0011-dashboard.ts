// The dashboard as an application of the server's own, whose grants end with the browser's session.

import type { Kysely } from 'kysely'

export async function addDashboard(db: Kysely<never>): Promise<void> {
  await db.schema
    .alterTable('applications')
    .addColumn('is_built_in', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  for (const table of ['oauth_codes', 'oauth_grants'] as const) {
    await db.schema
      .alterTable(table)
      .addColumn('session_id', 'text', (column) => column.references('sessions.id').onDelete('cascade'))
      .execute()
    await db.schema.createIndex(`${table}_of_session`).on(table).column('session_id').execute()
  }
}

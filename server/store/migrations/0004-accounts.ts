// Owners, one-time links, and how many mails went where.

import { type ColumnDefinitionBuilder, type Kysely, sql } from 'kysely'
import { columnTypes } from '../engine/column-types.ts'

const required = (column: ColumnDefinitionBuilder) => column.notNull()
/** A reference, if there is one, whose row goes when the other goes. */
const mayBelongTo = (target: string) => (column: ColumnDefinitionBuilder) =>
  column.references(target).onDelete('cascade')

export async function createAccountTables(db: Kysely<never>): Promise<void> {
  const { id, bytes, identity } = columnTypes(db)
  await db.schema
    .alterTable('users')
    .addColumn('is_owner', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await sql`update users set is_owner = 1 where id = (select min(id) from users)`.execute(db)

  await db.schema
    .createTable('links')
    .addColumn('hash', bytes, (column) => column.primaryKey())
    .addColumn('kind', 'text', required)
    .addColumn('user_id', id, mayBelongTo('users.id'))
    .addColumn('email', 'text')
    .addColumn('email_key', 'text')
    .addColumn('inviter_id', id, mayBelongTo('users.id'))
    .addColumn('camera_id', id, mayBelongTo('cameras.id'))
    .addColumn('created_at_ms', 'bigint', required)
    .addColumn('expires_at_ms', 'bigint', required)
    .execute()
  for (const column of ['user_id', 'email_key', 'inviter_id', 'camera_id', 'expires_at_ms'] as const) {
    await db.schema.createIndex(`links_${column}`).on('links').column(column).execute()
  }

  await db.schema
    .createTable('mails')
    .addColumn('id', id, identity)
    .addColumn('purpose', 'text', required)
    .addColumn('sender_id', id)
    .addColumn('email_key', 'text', required)
    .addColumn('at_ms', 'bigint', required)
    .execute()
  await db.schema.createIndex('mails_by_address').on('mails').columns(['email_key', 'purpose', 'at_ms']).execute()
  await db.schema.createIndex('mails_by_sender').on('mails').columns(['sender_id', 'purpose', 'at_ms']).execute()
}

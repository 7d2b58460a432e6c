// Guests of cameras. And addresses whose domains are in other scripts are one account with those of the name system
// from now on.

import type { ColumnDefinitionBuilder, Kysely } from 'kysely'
import { emailKey } from '../../model/email.ts'
import { columnTypes } from '../engine/column-types.ts'
import { tellChanges } from '../postgres/postgres-triggers.ts'

const required = (column: ColumnDefinitionBuilder) => column.notNull()

export async function createGuestTable(db: Kysely<never>): Promise<void> {
  const { id, identity } = columnTypes(db)
  await db.schema
    .createTable('guests')
    .addColumn('id', id, identity)
    .addColumn('camera_id', id, (column) => column.notNull().references('cameras.id').onDelete('cascade'))
    .addColumn('email', 'text', required)
    .addColumn('email_key', 'text', required)
    .addColumn('user_id', id, (column) => column.references('users.id').onDelete('cascade'))
    .addColumn('can_view_rec', 'integer', required)
    .addColumn('share_notifications', 'integer', required)
    .addColumn('created_at_ms', 'bigint', required)
    .addColumn('opened_at_ms', 'bigint')
    .addUniqueConstraint('guests_once', ['camera_id', 'email_key'])
    .execute()
  await db.schema.createIndex('guests_of_user').on('guests').columns(['user_id', 'camera_id']).execute()
  await db.schema.createIndex('guests_by_address').on('guests').column('email_key').execute()
  await tellChanges(db, 'guests')
  await renewEmailKeys(db as unknown as Kysely<KeyedUsers>)
}

type KeyedUsers = { users: { id: number; email: string; email_key: string } }

/**
 * Of two accounts that would be one now, one keeps its key, by which nobody finds it any more: an owner gives it
 * another address.
 */
async function renewEmailKeys(db: Kysely<KeyedUsers>): Promise<void> {
  const users = await db.selectFrom('users').select(['id', 'email', 'email_key']).execute()
  const taken = new Set(users.map(({ email_key }) => email_key))
  for (const { id, email, email_key } of users) {
    const key = emailKey(email)
    if (key === email_key || taken.has(key)) continue
    taken.add(key)
    await db.updateTable('users').set({ email_key: key }).where('id', '=', id).execute()
  }
}

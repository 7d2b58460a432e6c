// Second factors of accounts, what sessions know of them, and settings that an owner of the server makes while it runs.

import type { ColumnDefinitionBuilder, Kysely } from 'kysely'
import { columnTypes } from '../engine/column-types.ts'

const required = (column: ColumnDefinitionBuilder) => column.notNull()

export async function createSecondFactors(db: Kysely<never>): Promise<void> {
  const { id, bytes } = columnTypes(db)
  const ofUser = (column: ColumnDefinitionBuilder) => column.notNull().references('users.id').onDelete('cascade')
  const none = (column: ColumnDefinitionBuilder) => column.notNull().defaultTo(0)
  await db.schema.alterTable('users').addColumn('has_second_factor', 'integer', none).execute()
  await db.schema.alterTable('sessions').addColumn('second_factor_at_ms', 'bigint').execute()
  await db.schema.alterTable('sessions').addColumn('needs_second_factor', 'integer', none).execute()
  await db.schema
    .createTable('totp_secrets')
    .addColumn('user_id', id, (column) => column.primaryKey().references('users.id').onDelete('cascade'))
    .addColumn('sealed', bytes, required)
    .addColumn('last_step', 'bigint', required)
    .addColumn('created_at_ms', 'bigint', required)
    .execute()
  await db.schema
    .createTable('passkeys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', id, ofUser)
    .addColumn('name', 'text', required)
    .addColumn('public_key', bytes, required)
    .addColumn('counter', 'bigint', required)
    .addColumn('transports', 'text', required)
    .addColumn('created_at_ms', 'bigint', required)
    .addColumn('last_used_at_ms', 'bigint')
    .execute()
  await db.schema.createIndex('passkeys_of_user').on('passkeys').column('user_id').execute()
  await db.schema
    .createTable('recovery_codes')
    .addColumn('hash', bytes, (column) => column.primaryKey())
    .addColumn('user_id', id, ofUser)
    .execute()
  await db.schema.createIndex('recovery_codes_of_user').on('recovery_codes').column('user_id').execute()
  await db.schema
    .createTable('settings')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('value', 'text', required)
    .execute()
}

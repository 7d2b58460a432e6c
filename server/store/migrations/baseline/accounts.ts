// Accounts, their limits, and what owners of the server decide.

import type { Kysely } from 'kysely'
import { columnTypes } from '../../engine/column-types.ts'
import { tellChanges } from '../../postgres/postgres-triggers.ts'
import { flag, keyOf, required, unique } from './columns.ts'

export async function createAccountTables(db: Kysely<never>): Promise<void> {
  const { id, bytes, identity } = columnTypes(db)
  await db.schema
    .createTable('users')
    .addColumn('id', id, identity)
    .addColumn('email', 'text', required)
    .addColumn('email_key', 'text', unique)
    .addColumn('first_name', 'text', required)
    .addColumn('last_name', 'text', required)
    .addColumn('phone', 'text')
    .addColumn('password_hash', 'text', required)
    .addColumn('credentials_version', 'integer', (column) => column.notNull().defaultTo(1))
    .addColumn('has_second_factor', 'integer', flag)
    .addColumn('is_owner', 'integer', flag)
    .addColumn('may_add_cameras', 'integer', (column) => column.notNull().defaultTo(1))
    .addColumn('gets_outage_mails', 'integer', (column) => column.notNull().defaultTo(1))
    .addColumn('disabled_at_ms', 'bigint')
    .addColumn('created_at_ms', 'bigint', required)
    .execute()
  await db.schema
    .createTable('user_limits')
    .addColumn('user_id', id, keyOf('users.id'))
    .addColumn('max_bytes', 'bigint', required)
    .execute()
  for (const table of ['users', 'user_limits']) await tellChanges(db, table)

  // No foreign keys: rows of the audit log outlive what they are about.
  await db.schema
    .createTable('audit')
    .addColumn('id', id, identity)
    .addColumn('at_ms', 'bigint', required)
    .addColumn('event', 'text', required)
    .addColumn('user_id', id)
    .addColumn('subject', 'text')
    .addColumn('ip', 'text')
    .addColumn('user_agent', 'text')
    .addColumn('detail', 'text', required)
    .execute()
  await db.schema.createIndex('audit_of_user').on('audit').columns(['user_id', 'id']).execute()
  await db.schema.createIndex('audit_by_time').on('audit').column('at_ms').execute()

  await db.schema
    .createTable('settings')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('value', 'text', required)
    .execute()
  await db.schema
    .createTable('secret_check')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('sealed', bytes, required)
    .execute()
}

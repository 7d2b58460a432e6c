// People at identity providers who may sign in to an account.

import type { ColumnDefinitionBuilder, Kysely } from 'kysely'
import { columnTypes } from '../engine/column-types.ts'
import { tellChanges } from '../postgres/postgres-triggers.ts'

const required = (column: ColumnDefinitionBuilder) => column.notNull()

export async function createIdentityTable(db: Kysely<never>): Promise<void> {
  const { id, identity } = columnTypes(db)
  await db.schema
    .createTable('identities')
    .addColumn('id', id, identity)
    .addColumn('user_id', id, (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('issuer', 'text', required)
    .addColumn('subject', 'text', required)
    .addColumn('email', 'text')
    .addColumn('created_at_ms', 'bigint', required)
    .addColumn('used_at_ms', 'bigint')
    .addUniqueConstraint('identities_once', ['issuer', 'subject'])
    .addUniqueConstraint('identities_of_user', ['user_id', 'issuer'])
    .execute()
  await tellChanges(db, 'identities')
}

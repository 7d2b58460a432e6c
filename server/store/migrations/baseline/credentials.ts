// What signs in to an account besides its password: sessions, second factors, identity providers, personal access
// tokens and one-time links.

import type { Kysely } from 'kysely'
import { columnTypes } from '../../engine/column-types.ts'
import { tellChanges } from '../../postgres/postgres-triggers.ts'
import { belongsTo, flag, keyOf, mayBelongTo, required, unique } from './columns.ts'

export async function createSessionTable(db: Kysely<never>): Promise<void> {
  const { id, bytes } = columnTypes(db)
  await db.schema
    .createTable('sessions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('hash', bytes, unique)
    .addColumn('user_id', id, belongsTo('users.id'))
    .addColumn('created_at_ms', 'bigint', required)
    .addColumn('seen_at_ms', 'bigint', required)
    .addColumn('password_at_ms', 'bigint', required)
    .addColumn('second_factor', 'text')
    .addColumn('second_factor_at_ms', 'bigint')
    .addColumn('needs_second_factor', 'integer', flag)
    .addColumn('ip', 'text', required)
    .addColumn('user_agent', 'text')
    .execute()
  await db.schema.createIndex('sessions_of_user').on('sessions').columns(['user_id', 'seen_at_ms']).execute()
}

export async function createSecondFactorTables(db: Kysely<never>): Promise<void> {
  const { id, bytes } = columnTypes(db)
  await db.schema
    .createTable('totp_secrets')
    .addColumn('user_id', id, keyOf('users.id'))
    .addColumn('sealed', bytes, required)
    .addColumn('last_step', 'bigint', required)
    .addColumn('created_at_ms', 'bigint', required)
    .execute()
  await db.schema
    .createTable('passkeys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', id, belongsTo('users.id'))
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
    .addColumn('user_id', id, belongsTo('users.id'))
    .execute()
  await db.schema.createIndex('recovery_codes_of_user').on('recovery_codes').column('user_id').execute()
}

export async function createIdentityTable(db: Kysely<never>): Promise<void> {
  const { id, identity } = columnTypes(db)
  await db.schema
    .createTable('identities')
    .addColumn('id', id, identity)
    .addColumn('user_id', id, belongsTo('users.id'))
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

/** After the grants: a token that was created by a grant or another token ends with it. */
export async function createTokenTable(db: Kysely<never>): Promise<void> {
  const { id, bytes, identity } = columnTypes(db)
  await db.schema
    .createTable('tokens')
    .addColumn('id', id, identity)
    .addColumn('user_id', id, belongsTo('users.id'))
    .addColumn('parent_id', id, mayBelongTo('tokens.id'))
    .addColumn('grant_id', id, mayBelongTo('oauth_grants.id'))
    .addColumn('name', 'text', required)
    .addColumn('hash', bytes, unique)
    .addColumn('prefix', 'text', required)
    .addColumn('last_four', 'text', required)
    .addColumn('scope', 'text', required)
    .addColumn('is_checksum_valid', 'integer', required)
    .addColumn('created_at_ms', 'bigint', required)
    .addColumn('last_used_at_ms', 'bigint')
    .addColumn('revoked_at_ms', 'bigint')
    .execute()
  await db.schema.createIndex('tokens_of_user').on('tokens').column('user_id').execute()
  for (const column of ['parent_id', 'grant_id'] as const) {
    await db.schema.createIndex(`tokens_by_${column}`).on('tokens').column(column).execute()
  }
  await tellChanges(db, 'tokens')
}

/** After the cameras, which links of invited guests refer to. */
export async function createLinkTables(db: Kysely<never>): Promise<void> {
  const { id, bytes, identity } = columnTypes(db)
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

// OAuth 2.0 (RFC 6749): applications, and what users granted them.

import type { Kysely } from 'kysely'
import { columnTypes } from '../../engine/column-types.ts'
import { tellChanges } from '../../postgres/postgres-triggers.ts'
import { belongsTo, flag, keyOf, mayBelongTo, required, unique } from './columns.ts'

/** After users and sessions. */
export async function createOAuthTables(db: Kysely<never>): Promise<void> {
  const { id, bytes, identity } = columnTypes(db)
  await db.schema
    .createTable('applications')
    .addColumn('id', id, identity)
    .addColumn('client_id', 'text', unique)
    .addColumn('owner_id', id, belongsTo('users.id'))
    .addColumn('name', 'text', required)
    .addColumn('secret_hash', bytes)
    .addColumn('requires_secret', 'integer', required)
    .addColumn('allows_password', 'integer', required)
    .addColumn('is_built_in', 'integer', flag)
    .addColumn('redirect_uris', 'text', required)
    .addColumn('scope', 'text', required)
    .addColumn('created_at_ms', 'bigint', required)
    .execute()
  await db.schema.createIndex('applications_of_owner').on('applications').column('owner_id').execute()

  await db.schema
    .createTable('oauth_grants')
    .addColumn('id', id, identity)
    .addColumn('user_id', id, belongsTo('users.id'))
    .addColumn('application_id', id, belongsTo('applications.id'))
    .addColumn('session_id', 'text', mayBelongTo('sessions.id'))
    .addColumn('scope', 'text', required)
    .addColumn('generation', 'integer', required)
    .addColumn('created_at_ms', 'bigint', required)
    .addColumn('expires_at_ms', 'bigint', required)
    .addColumn('absolute_expires_at_ms', 'bigint')
    .addColumn('revoked_at_ms', 'bigint')
    .addColumn('revoke_reason', 'text')
    .addColumn('last_ip', 'text', required)
    .addColumn('last_used_at_ms', 'bigint', required)
    .addColumn('label', 'text', required)
    .execute()
  await db.schema.createIndex('oauth_grants_of_user').on('oauth_grants').column('user_id').execute()
  await db.schema.createIndex('oauth_grants_of_application').on('oauth_grants').column('application_id').execute()
  await db.schema.createIndex('oauth_grants_of_session').on('oauth_grants').column('session_id').execute()

  await db.schema
    .createTable('oauth_tokens')
    .addColumn('hash', bytes, (column) => column.primaryKey())
    .addColumn('kind', 'text', required)
    .addColumn('grant_id', id, belongsTo('oauth_grants.id'))
    .addColumn('generation', 'integer', required)
    .addColumn('scope', 'text', required)
    .addColumn('expires_at_ms', 'bigint', required)
    .addColumn('used_at_ms', 'bigint')
    .execute()
  await db.schema.createIndex('oauth_tokens_of_grant').on('oauth_tokens').columns(['grant_id', 'kind']).execute()
  await db.schema.createIndex('oauth_tokens_by_expiry').on('oauth_tokens').column('expires_at_ms').execute()

  await db.schema
    .createTable('oauth_codes')
    .addColumn('hash', bytes, (column) => column.primaryKey())
    .addColumn('application_id', id, belongsTo('applications.id'))
    .addColumn('user_id', id, belongsTo('users.id'))
    .addColumn('session_id', 'text', mayBelongTo('sessions.id'))
    .addColumn('grant_id', id, mayBelongTo('oauth_grants.id'))
    .addColumn('redirect_uri', 'text', required)
    .addColumn('scope', 'text', required)
    .addColumn('code_challenge', 'text')
    .addColumn('expires_at_ms', 'bigint', required)
    .addColumn('used_at_ms', 'bigint')
    .execute()
  for (const column of ['application_id', 'user_id', 'grant_id', 'expires_at_ms'] as const) {
    await db.schema.createIndex(`oauth_codes_${column}`).on('oauth_codes').column(column).execute()
  }
  await db.schema.createIndex('oauth_codes_of_session').on('oauth_codes').column('session_id').execute()

  await db.schema
    .createTable('oauth_replies')
    .addColumn('token_hash', bytes, keyOf('oauth_tokens.hash'))
    .addColumn('sealed', bytes, required)
    .addColumn('expires_at_ms', 'bigint', required)
    .execute()
  for (const table of ['applications', 'oauth_grants']) await tellChanges(db, table)
}

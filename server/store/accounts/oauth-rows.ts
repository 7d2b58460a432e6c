// Rows of grants, tokens and codes in the form that the decisions in model/oauth use.

import type { Kysely } from 'kysely'
import type { CodeState, TokenState } from '../../model/oauth/decision.ts'
import type { Tables } from '../schema.ts'

export type StoredToken = TokenState & { readonly hash: Uint8Array }

export type StoredCode = CodeState & { readonly hash: Uint8Array }

/** Finds a token by its SHA-256, with the present state of its grant. */
export async function findToken(db: Kysely<Tables>, hash: Uint8Array): Promise<StoredToken | undefined> {
  const row = await db
    .selectFrom('oauth_tokens as token')
    .innerJoin('oauth_grants as granted', 'granted.id', 'token.grant_id')
    .innerJoin('users', 'users.id', 'granted.user_id')
    .select(['token.kind', 'token.generation', 'token.expires_at_ms', 'token.used_at_ms'])
    .select(['granted.id', 'granted.user_id', 'granted.application_id', 'granted.scope'])
    .select(['granted.generation as grant_generation', 'granted.absolute_expires_at_ms', 'granted.revoked_at_ms'])
    .select('users.disabled_at_ms')
    .where('token.hash', '=', hash)
    .executeTakeFirst()
  return (
    row && {
      hash,
      kind: row.kind,
      generation: row.generation,
      expiresAtMs: row.expires_at_ms,
      usedAtMs: row.used_at_ms ?? undefined,
      grant: {
        id: row.id,
        userId: row.user_id,
        applicationId: row.application_id,
        scopes: row.scope.split(' '),
        generation: row.grant_generation,
        absoluteExpiresAtMs: row.absolute_expires_at_ms ?? undefined,
        isEnded: row.revoked_at_ms !== null || row.disabled_at_ms !== null,
      },
    }
  )
}

/** Finds a code by its SHA-256. */
export async function findCode(db: Kysely<Tables>, hash: Uint8Array): Promise<StoredCode | undefined> {
  const row = await db
    .selectFrom('oauth_codes as code')
    .innerJoin('users', 'users.id', 'code.user_id')
    .selectAll('code')
    .select('users.disabled_at_ms')
    .where('code.hash', '=', hash)
    .executeTakeFirst()
  return (
    row && {
      hash,
      applicationId: row.application_id,
      userId: row.user_id,
      redirectUri: row.redirect_uri,
      scopes: row.scope.split(' '),
      codeChallenge: row.code_challenge ?? undefined,
      expiresAtMs: row.expires_at_ms,
      usedAtMs: row.used_at_ms ?? undefined,
      grantId: row.grant_id ?? undefined,
      sessionId: row.session_id ?? undefined,
      isUserDisabled: row.disabled_at_ms !== null,
    }
  )
}

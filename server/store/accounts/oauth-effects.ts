// Writes the decision on a token request in one transaction: all of it, or nothing if the facts that the decision was
// based on have changed. The updates contain the conditions, so that only one of several concurrent requests succeeds,
// even across processes.

import type { Kysely } from 'kysely'
import type { Effect, Pair } from '../../model/oauth/decision.ts'
import { sessionIdleMs } from '../../model/session-limits.ts'
import type { Tables } from '../schema.ts'
import { holdProven } from './proven-user.ts'

/** Values that the effects need: hashes of the tokens that were generated for them, and where the request came from. */
export type EffectDetails = {
  readonly nowMs: number
  /** Hash of the code or token that was sent. */
  readonly presentedHash?: Uint8Array | undefined
  /** Hashes of the new tokens. */
  readonly pairHashes?: { readonly access: Uint8Array; readonly refresh: Uint8Array } | undefined
  /** The sealed response, if it must be sent again for the same request. */
  readonly reply?: { readonly sealed: Uint8Array; readonly expiresAtMs: number } | undefined
  /** The account whose password was correct, if that opens a grant. A code needs no other proof. */
  readonly credentialsVersion?: number | undefined
  readonly ip: string
  readonly label: string
}

/** Another request came first and nothing was written. Read the facts and decide again. */
export class StaleDecisionError extends Error {
  override readonly name = 'StaleDecisionError'
}

/** Returns the id of the grant that was opened or rotated. Throws `StaleDecisionError`. */
export async function writeEffects(
  transaction: Kysely<Tables>,
  effects: readonly Effect[],
  details: EffectDetails,
): Promise<number | undefined> {
  let grantId: number | undefined
  let isCodeConsumed = false
  for (const effect of effects) {
    switch (effect.kind) {
      case 'consume_code':
        await consumeCode(transaction, details)
        isCodeConsumed = true
        break
      case 'open_grant':
        grantId = await openGrant(transaction, effect, details)
        if (isCodeConsumed) await bindCode(transaction, grantId, details)
        break
      case 'rotate_grant':
        grantId = effect.grantId
        await rotateGrant(transaction, effect, details)
        break
      case 'revoke_grant':
        await transaction
          .updateTable('oauth_grants')
          .set({ revoked_at_ms: details.nowMs, revoke_reason: effect.reason })
          .where('id', '=', effect.grantId)
          .where('revoked_at_ms', 'is', null)
          .execute()
        break
    }
  }
  return grantId
}

type Opening = Extract<Effect, { kind: 'open_grant' }>
type Rotation = Extract<Effect, { kind: 'rotate_grant' }>

async function consumeCode(transaction: Kysely<Tables>, { presentedHash, nowMs }: EffectDetails): Promise<void> {
  const consumed = await transaction
    .updateTable('oauth_codes')
    .set({ used_at_ms: nowMs })
    .where('hash', '=', presentedHash!)
    .where('used_at_ms', 'is', null)
    .returning('application_id')
    .executeTakeFirst()
  if (!consumed) throw new StaleDecisionError()
}

async function bindCode(transaction: Kysely<Tables>, grantId: number, details: EffectDetails): Promise<void> {
  const query = transaction.updateTable('oauth_codes').set({ grant_id: grantId })
  await query.where('hash', '=', details.presentedHash!).execute()
}

async function openGrant(transaction: Kysely<Tables>, effect: Opening, details: EffectDetails): Promise<number> {
  const { credentialsVersion } = details
  if (credentialsVersion !== undefined) await holdProven(transaction, { id: effect.userId, credentialsVersion })
  const { id } = await transaction
    .insertInto('oauth_grants')
    .values({
      user_id: effect.userId,
      application_id: effect.applicationId,
      scope: effect.scopes.join(' '),
      generation: 1,
      created_at_ms: details.nowMs,
      expires_at_ms: effect.pair.refreshExpiresAtMs,
      absolute_expires_at_ms: effect.absoluteExpiresAtMs ?? null,
      revoked_at_ms: null,
      revoke_reason: null,
      last_ip: details.ip,
      last_used_at_ms: details.nowMs,
      label: details.label,
      session_id: effect.sessionId ?? null,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await insertPair(transaction, { grantId: id, generation: 1, scopes: effect.scopes, pair: effect.pair }, details)
  return id
}

async function rotateGrant(transaction: Kysely<Tables>, effect: Rotation, details: EffectDetails): Promise<void> {
  const { grantId, fromGeneration, pair } = effect
  const generation = fromGeneration + 1
  const rotated = await transaction
    .updateTable('oauth_grants')
    .set({
      generation,
      expires_at_ms: pair.refreshExpiresAtMs,
      last_ip: details.ip,
      last_used_at_ms: details.nowMs,
    })
    .where('id', '=', grantId)
    .where('generation', '=', fromGeneration)
    .where('revoked_at_ms', 'is', null)
    .returning(['scope', 'session_id'])
    .executeTakeFirst()
  if (!rotated) throw new StaleDecisionError()
  if (rotated.session_id !== null) await noteSessionUse(transaction, rotated.session_id, details)
  const query = transaction.updateTable('oauth_tokens').set({ used_at_ms: details.nowMs })
  await query.where('hash', '=', details.presentedHash!).execute()
  // The generation makes earlier tokens invalid. They are kept, so that a replay is recognized and each of them can
  // still revoke the grant.
  await insertPair(transaction, { grantId, generation, scopes: rotated.scope.split(' '), pair }, details)
  if (details.reply) {
    await transaction
      .insertInto('oauth_replies')
      .values({
        token_hash: details.presentedHash!,
        sealed: details.reply.sealed,
        expires_at_ms: details.reply.expiresAtMs,
      })
      .execute()
  }
}

/**
 * The browser is in use although it requested no page: it may show a wall of cameras. A session that has been idle for
 * too long stays expired.
 */
async function noteSessionUse(transaction: Kysely<Tables>, id: string, { nowMs }: EffectDetails): Promise<void> {
  await transaction
    .updateTable('sessions')
    .set({ seen_at_ms: nowMs })
    .where('id', '=', id)
    .where('seen_at_ms', '>', nowMs - sessionIdleMs)
    .where('seen_at_ms', '<', nowMs)
    .execute()
}

/** The request may have asked for fewer scopes. That limits only the access token: the next refresh may ask for all. */
async function insertPair(
  transaction: Kysely<Tables>,
  of: { grantId: number; generation: number; scopes: readonly string[]; pair: Pair },
  { pairHashes }: EffectDetails,
): Promise<void> {
  const { grantId: grant_id, generation, scopes, pair } = of
  const common = { grant_id, generation, used_at_ms: null }
  await transaction
    .insertInto('oauth_tokens')
    .values([
      {
        ...common,
        hash: pairHashes!.access,
        kind: 'access',
        scope: pair.accessScopes.join(' '),
        expires_at_ms: pair.accessExpiresAtMs,
      },
      {
        ...common,
        hash: pairHashes!.refresh,
        kind: 'refresh',
        scope: scopes.join(' '),
        expires_at_ms: pair.refreshExpiresAtMs,
      },
    ])
    .execute()
}

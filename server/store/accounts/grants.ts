// Grants: what users granted to applications, with the tokens and codes that belong to them. Only the SHA-256 of tokens
// is stored. A token is valid while its generation is that of its grant, the grant is not revoked, and neither has
// expired.

import type { ExpressionBuilder, Kysely } from 'kysely'
import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'
import type { Effect } from '../../model/oauth/decision.ts'
import type { ChangePublisher } from '../engine/change-feed.ts'
import { isForeignKeyViolation } from '../engine/constraint.ts'
import { writeRelaxed } from '../engine/durability.ts'
import { inTransaction } from '../engine/transaction.ts'
import type { Tables } from '../schema.ts'
import { type EffectDetails, StaleDecisionError, writeEffects } from './oauth-effects.ts'
import { findCode, findToken, type StoredCode, type StoredToken } from './oauth-rows.ts'
import { credentialsChanged, holdProven } from './proven-user.ts'

/** A grant as its user may see it. */
export type Grant = {
  readonly id: number
  readonly userId: number
  readonly applicationId: number
  readonly appName: string
  readonly scopes: readonly string[]
  readonly createdAtMs: number
  /** Accurate to a minute. */
  readonly lastUsedAtMs: number
  /** The address that created or last refreshed it. */
  readonly lastIp: string
  /** The user agent that created it. */
  readonly label: string
  /** When it expires unless it is refreshed. */
  readonly expiresAtMs: number
}

/** An access token that is valid until `expiresAtMs`, unless its grant is refreshed or revoked before. */
export type LiveAccess = {
  readonly grantId: number
  readonly userId: number
  readonly applicationId: number
  readonly scopes: readonly string[]
  readonly expiresAtMs: number
  /** True for the server's own dashboard. */
  readonly isBuiltIn: boolean
  /** The present version of the account's credentials. */
  readonly credentialsVersion: number
}

export type NewCode = {
  /** SHA-256 of the code, 32 bytes. */
  readonly hash: Uint8Array
  readonly applicationId: number
  readonly userId: number
  readonly redirectUri: string
  readonly scopes: readonly string[]
  readonly codeChallenge: string | undefined
  readonly expiresAtMs: number
  /** The session in which the user consented, and the version of the account's credentials when it was read. */
  readonly session: { readonly id: string; readonly credentialsVersion: number }
  /** True if the grant ends with the session. */
  readonly endsWithSession: boolean
}

/** How long ended grants are kept: to recognize a code or token that is used again, and for the user to see. */
const keptMs = 30 * 86_400_000

export class Grants {
  readonly #db: Kysely<Tables>
  readonly #feed: ChangePublisher
  readonly #clock: Clock

  constructor(db: Kysely<Tables>, feed: ChangePublisher, clock: Clock) {
    this.#db = db
    this.#feed = feed
    this.#clock = clock
  }

  /** By SHA-256, in any state. */
  findToken(hash: Uint8Array): Promise<StoredToken | undefined> {
    return findToken(this.#db, hash)
  }

  findCode(hash: Uint8Array): Promise<StoredCode | undefined> {
    return findCode(this.#db, hash)
  }

  /** The sealed response to the refresh that consumed this token. */
  async findReply(tokenHash: Uint8Array): Promise<Uint8Array | undefined> {
    const query = this.#db.selectFrom('oauth_replies').select('sealed').where('token_hash', '=', tokenHash)
    const row = await query.where('expires_at_ms', '>', this.#clock.nowMs()).executeTakeFirst()
    return row?.sealed
  }

  /**
   * Throws 'unauthenticated' if the session has ended or the account was changed since it was read, and 'not_found'
   * if the user or the application no longer exists.
   */
  async insertCode({ session, ...code }: NewCode): Promise<void> {
    try {
      await inTransaction(this.#db, async (transaction) => {
        await holdProven(transaction, { id: code.userId, credentialsVersion: session.credentialsVersion })
        const query = transaction.selectFrom('sessions').select('id').where('id', '=', session.id)
        if (!(await query.forShare().executeTakeFirst())) throw credentialsChanged()
        await transaction
          .insertInto('oauth_codes')
          .values({
            hash: code.hash,
            application_id: code.applicationId,
            user_id: code.userId,
            redirect_uri: code.redirectUri,
            scope: code.scopes.join(' '),
            code_challenge: code.codeChallenge ?? null,
            expires_at_ms: code.expiresAtMs,
            used_at_ms: null,
            grant_id: null,
            session_id: code.endsWithSession ? session.id : null,
          })
          .execute()
      })
    } catch (cause) {
      if (isForeignKeyViolation(cause)) {
        throw new AppError('not_found', 'the user or the application no longer exists', { cause })
      }
      throw cause
    }
  }

  /**
   * Writes all effects or none, and returns the id of the grant they created or rotated. Throws 'conflict' if what they
   * were decided on has changed, 'unauthenticated' if the account was changed since the proof on which a grant is
   * created, and 'not_found' if the user or the application no longer exists.
   */
  async commit(effects: readonly Effect[], details: EffectDetails): Promise<number | undefined> {
    if (effects.length === 0) return undefined
    let grantId: number | undefined
    try {
      grantId = await inTransaction(this.#db, (transaction) => writeEffects(transaction, effects, details))
    } catch (cause) {
      if (cause instanceof StaleDecisionError) throw new AppError('conflict', 'another request was faster', { cause })
      if (isForeignKeyViolation(cause))
        throw new AppError('not_found', 'the user or the application no longer exists', { cause })
      throw cause
    }
    // A new grant contradicts no cached data.
    if (effects.some(({ kind }) => kind === 'rotate_grant' || kind === 'revoke_grant')) this.#feed.publish('records')
    return grantId
  }

  /**
   * By SHA-256; undefined if its grant was refreshed or revoked since, or its user or the application's owner is
   * disabled.
   */
  async findLiveAccess(hash: Uint8Array): Promise<LiveAccess | undefined> {
    const row = await this.#db
      .selectFrom('oauth_tokens as token')
      .innerJoin('oauth_grants as granted', 'granted.id', 'token.grant_id')
      .innerJoin('users', 'users.id', 'granted.user_id')
      .innerJoin('applications', 'applications.id', 'granted.application_id')
      .innerJoin('users as owner', 'owner.id', 'applications.owner_id')
      .select(['token.grant_id', 'token.scope', 'token.expires_at_ms', 'granted.user_id', 'granted.application_id'])
      .select(['users.credentials_version', 'applications.is_built_in'])
      .where('token.hash', '=', hash)
      .where('token.kind', '=', 'access')
      .whereRef('token.generation', '=', 'granted.generation')
      .where('granted.revoked_at_ms', 'is', null)
      .where('users.disabled_at_ms', 'is', null)
      .where(isAnsweredFor)
      .executeTakeFirst()
    return (
      row && {
        grantId: row.grant_id,
        userId: row.user_id,
        applicationId: row.application_id,
        scopes: row.scope.split(' '),
        expiresAtMs: row.expires_at_ms,
        isBuiltIn: row.is_built_in === 1,
        credentialsVersion: row.credentials_version,
      }
    )
  }

  /**
   * When a grant expires unless refreshed; undefined if it is revoked, or its user or the application's owner is
   * disabled.
   */
  async findEndMs(id: number): Promise<number | undefined> {
    const row = await this.#selectLive()
      .innerJoin('users as owner', 'owner.id', 'applications.owner_id')
      .where('granted.id', '=', id)
      .where(isAnsweredFor)
      .executeTakeFirst()
    return row?.expires_at_ms
  }

  /** Valid grants of one user to applications of others, newest first. */
  async list(userId: number): Promise<Grant[]> {
    const rows = await this.#selectLive()
      .where('applications.is_built_in', '=', 0)
      .where('granted.user_id', '=', userId)
      .where('granted.expires_at_ms', '>', this.#clock.nowMs())
      .orderBy('granted.id', 'desc')
      .execute()
    return rows.map((row) => ({
      id: row.id,
      userId: row.user_id,
      applicationId: row.application_id,
      appName: row.name,
      scopes: row.scope.split(' '),
      createdAtMs: row.created_at_ms,
      lastUsedAtMs: row.last_used_at_ms,
      lastIp: row.last_ip,
      label: row.label,
      expiresAtMs: row.expires_at_ms,
    }))
  }

  /** Revokes a grant of the user with all its tokens. Returns false if there is none, or it had already ended. */
  async revoke(userId: number, id: number, reason: string): Promise<boolean> {
    const revoked = await this.#db
      .updateTable('oauth_grants')
      .set({ revoked_at_ms: this.#clock.nowMs(), revoke_reason: reason })
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .where('revoked_at_ms', 'is', null)
      .returning('id')
      .executeTakeFirst()
    if (revoked) this.#feed.publish('records')
    return revoked !== undefined
  }

  /**
   * Time of last use by grant id, Unix milliseconds. Not published: only the user's list of grants shows it.
   */
  async setLastUsed(times: ReadonlyMap<number, number>): Promise<void> {
    if (times.size === 0) return
    await writeRelaxed(this.#db, (db) =>
      inTransaction(db, async (transaction) => {
        for (const [id, last_used_at_ms] of times) {
          await transaction.updateTable('oauth_grants').set({ last_used_at_ms }).where('id', '=', id).execute()
        }
      }),
    )
  }

  /**
   * Deletes grants that ended long ago, and expired refresh tokens. An expired access token can still revoke its
   * grant. `nowMs`: default is the clock's time.
   */
  async removeExpired(nowMs = this.#clock.nowMs()): Promise<void> {
    await inTransaction(this.#db, async (transaction) => {
      await transaction.deleteFrom('oauth_replies').where('expires_at_ms', '<', nowMs).execute()
      await transaction
        .deleteFrom('oauth_codes')
        .where('expires_at_ms', '<', nowMs - keptMs)
        .execute()
      await transaction
        .deleteFrom('oauth_tokens')
        .where((of) =>
          of.or([
            of('expires_at_ms', '<', nowMs - keptMs),
            of.and([of('kind', '=', 'refresh'), of('expires_at_ms', '<', nowMs)]),
          ]),
        )
        .execute()
      await transaction
        .deleteFrom('oauth_grants')
        .where((of) => of.or([of('expires_at_ms', '<', nowMs - keptMs), of('revoked_at_ms', '<', nowMs - keptMs)]))
        .execute()
    })
  }

  #selectLive() {
    return this.#db
      .selectFrom('oauth_grants as granted')
      .innerJoin('users', 'users.id', 'granted.user_id')
      .innerJoin('applications', 'applications.id', 'granted.application_id')
      .selectAll('granted')
      .select('applications.name')
      .where('granted.revoked_at_ms', 'is', null)
      .where('users.disabled_at_ms', 'is', null)
  }
}

/** True if its owner is not disabled, or it is one of the server's own. */
function isAnsweredFor(where: ExpressionBuilder<Tables & { owner: Tables['users'] }, 'owner' | 'applications'>) {
  return where.or([where('owner.disabled_at_ms', 'is', null), where('applications.is_built_in', '=', 1)])
}

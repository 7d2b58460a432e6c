// Grants: log-ins of users through applications, with the tokens and codes that belong to them. Tokens are never kept,
// only their SHA-256. A token is good while its generation is its grant's, the grant is not revoked and neither has
// expired.

import type { ExpressionBuilder, Kysely } from 'kysely'
import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import type { Effect } from '../model/oauth/decision.ts'
import type { ChangePublisher } from './change-feed.ts'
import { isForeignKeyViolation } from './constraint.ts'
import { writeRelaxed } from './durability.ts'
import { type EffectDetails, StaleDecisionError, writeEffects } from './oauth-effects.ts'
import { findCode, findToken, type StoredCode, type StoredToken } from './oauth-rows.ts'
import { credentialsChanged, holdProven } from './proven-user.ts'
import type { Tables } from './schema.ts'
import { inTransaction } from './transaction.ts'

/** A log-in as its user may see it. */
export type Grant = {
  readonly id: number
  readonly userId: number
  readonly applicationId: number
  readonly appName: string
  readonly scopes: readonly string[]
  readonly createdAtMs: number
  /** To within a minute. */
  readonly lastUsedAtMs: number
  /** Where it was made or last refreshed from. */
  readonly lastIp: string
  /** The user agent it was made with. */
  readonly label: string
  /** When it ends unless refreshed before. */
  readonly expiresAtMs: number
}

/** An access token that may be used until `expiresAtMs`, unless its grant is refreshed or revoked before. */
export type LiveAccess = {
  readonly grantId: number
  readonly userId: number
  readonly applicationId: number
  readonly scopes: readonly string[]
  readonly expiresAtMs: number
  /** Of the server's own dashboard. */
  readonly isBuiltIn: boolean
  /** Of the user's account, now. */
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
  /** The session in which the user was asked, and the version of the account's credentials when it was found. */
  readonly session: { readonly id: string; readonly credentialsVersion: number }
  /** Whether what is granted for it ends with the session. */
  readonly endsWithSession: boolean
}

/** How long what has ended is kept: to recognize a code or token that comes again, and for the user to see. */
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

  /** By SHA-256; of whatever state. */
  findToken(hash: Uint8Array): Promise<StoredToken | undefined> {
    return findToken(this.#db, hash)
  }

  findCode(hash: Uint8Array): Promise<StoredCode | undefined> {
    return findCode(this.#db, hash)
  }

  /** The sealed answer to the refresh that used this token up. */
  async findReply(tokenHash: Uint8Array): Promise<Uint8Array | undefined> {
    const query = this.#db.selectFrom('oauth_replies').select('sealed').where('token_hash', '=', tokenHash)
    const row = await query.where('expires_at_ms', '>', this.#clock.nowMs()).executeTakeFirst()
    return row?.sealed
  }

  /**
   * Throws 'unauthenticated' when the session has ended or the account was changed since it was found, and 'not_found'
   * when the user or the application is gone.
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
   * Writes all effects or none; the id of the grant they opened or rotated. Throws 'conflict' when what they were
   * decided on does not hold any more, 'unauthenticated' when the account was changed since the proof that a grant is
   * opened on, and 'not_found' when the user or the application is gone.
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
    // What is new contradicts nothing that is kept in memory.
    if (effects.some(({ kind }) => kind === 'rotate_grant' || kind === 'revoke_grant')) this.#feed.publish('records')
    return grantId
  }

  /**
   * By SHA-256; undefined when its grant was refreshed or revoked since, or its user or the application's owner
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
   * Until when a grant lasts unless refreshed; undefined when revoked, or its user or the application's owner disabled.
   */
  async findEndMs(id: number): Promise<number | undefined> {
    const row = await this.#selectLive()
      .innerJoin('users as owner', 'owner.id', 'applications.owner_id')
      .where('granted.id', '=', id)
      .where(isAnsweredFor)
      .executeTakeFirst()
    return row?.expires_at_ms
  }

  /** Those that last, newest first; of one user, to applications of others. */
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

  /** The user ends one, with all its tokens. False when there is no such grant, or it had ended before. */
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
   * Grant id to time of last use, Unix milliseconds. Tells nobody: no answer but the user's list of grants shows it.
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
   * Forgets what ended long ago, and refresh tokens that have expired. An expired access token can still revoke its
   * grant.
   */
  async removeExpired(): Promise<void> {
    const nowMs = this.#clock.nowMs()
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

/** Its owner is not disabled, or it is the server's own. */
function isAnsweredFor(where: ExpressionBuilder<Tables & { owner: Tables['users'] }, 'owner' | 'applications'>) {
  return where.or([where('owner.disabled_at_ms', 'is', null), where('applications.is_built_in', '=', 1)])
}

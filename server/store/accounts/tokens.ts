// Personal access tokens, stored so that the rows alone do not allow anybody to use them.

import type { Kysely } from 'kysely'
import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'
import type { ChangePublisher } from '../engine/change-feed.ts'
import { isForeignKeyViolation, isUniqueViolation } from '../engine/constraint.ts'
import { writeRelaxed } from '../engine/durability.ts'
import { inTransaction } from '../engine/transaction.ts'
import type { Row, Tables } from '../schema.ts'
import { credentialsChanged, holdProven } from './proven-user.ts'

export type Token = {
  readonly id: number
  readonly userId: number
  readonly name: string
  readonly scopes: readonly string[]
  /** The first and last characters, by which the owner recognizes the token. */
  readonly prefix: string
  readonly lastFour: string
  readonly createdAtMs: number
  /** Accurate to a minute; null if never used. */
  readonly lastUsedAtMs: number | null
  /** Null for never, unless the grant ends that created it. */
  readonly expiresAtMs: number | null
  /** Also set when the token has expired, or the token or grant that created it has ended. */
  readonly revokedAtMs: number | null
}

/** The personal token or grant that created a token. */
export type TokenMaker = { readonly kind: 'personal' | 'grant'; readonly id: number }

export type NewToken = Pick<Token, 'userId' | 'name' | 'scopes' | 'prefix' | 'lastFour'> & {
  /** SHA-256 of the token, 32 bytes. */
  readonly hash: Uint8Array
  /** False for a value that looks like one of our tokens but has a wrong checksum; see auth/personal-token.ts. */
  readonly isChecksumValid: boolean
  readonly expiresAtMs?: number | null | undefined
  /** Version of the account's credentials at the proof; undefined if the server's owner creates the token. */
  readonly credentialsVersion?: number | undefined
  /** The token ends with its creator. Undefined for a token that a person created. */
  readonly maker?: TokenMaker | undefined
}

/** A valid token: not revoked, of an account that is not disabled, and with no creator that has ended. */
export type LiveToken = {
  readonly id: number
  readonly userId: number
  readonly scopes: readonly string[]
  /** When it expires, or the grant that created it ends unless that is refreshed; null for never. */
  readonly expiresAtMs: number | null
  /** The account's present facts. */
  readonly credentialsVersion: number
}

export class Tokens {
  readonly #db: Kysely<Tables>
  readonly #feed: ChangePublisher
  readonly #clock: Clock

  constructor(db: Kysely<Tables>, feed: ChangePublisher, clock: Clock) {
    this.#db = db
    this.#feed = feed
    this.#clock = clock
  }

  /**
   * Throws 'conflict' if the same token exists, 'not_found' for an unknown user, and 'unauthenticated' if the account
   * was changed since `credentialsVersion` or the creator has ended.
   */
  async insert(token: NewToken): Promise<Token> {
    try {
      const row = await inTransaction(this.#db, (transaction) => this.#insert(transaction, token))
      this.#feed.publish('records')
      return toToken(row)
    } catch (cause) {
      if (isUniqueViolation(cause)) throw new AppError('conflict', 'a token with this value already exists', { cause })
      if (isForeignKeyViolation(cause)) throw new AppError('not_found', `there is no user ${token.userId}`, { cause })
      throw cause
    }
  }

  async #insert(
    transaction: Kysely<Tables>,
    { userId, credentialsVersion, maker, ...token }: NewToken,
  ): Promise<Row<'tokens'>> {
    if (credentialsVersion !== undefined) await holdProven(transaction, { id: userId, credentialsVersion })
    const origin = maker
      ? await this.#holdMaker(transaction, maker)
      : { parent_id: null, grant_id: null, expires_at_ms: null }
    const expiresAtMs = earlier(token.expiresAtMs ?? null, origin.expires_at_ms)
    return transaction
      .insertInto('tokens')
      .values({
        user_id: userId,
        name: token.name,
        hash: token.hash,
        prefix: token.prefix,
        last_four: token.lastFour,
        scope: token.scopes.join(' '),
        is_checksum_valid: token.isChecksumValid ? 1 : 0,
        created_at_ms: this.#clock.nowMs(),
        last_used_at_ms: null,
        revoked_at_ms: null,
        ...origin,
        expires_at_ms: expiresAtMs,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
  }

  /** Whoever ends the creator waits for the end of this transaction and then ends what it created. */
  async #holdMaker(transaction: Kysely<Tables>, { kind, id }: TokenMaker) {
    const table = kind === 'personal' ? 'tokens' : 'oauth_grants'
    const held = transaction.selectFrom(table).select('id').where('id', '=', id).where('revoked_at_ms', 'is', null)
    if (!(await held.forShare().executeTakeFirst())) throw credentialsChanged()
    if (kind === 'grant') return { parent_id: null, grant_id: id, expires_at_ms: null }
    const query = transaction.selectFrom('tokens').select(['grant_id', 'expires_at_ms']).where('id', '=', id)
    return { parent_id: id, ...(await query.executeTakeFirstOrThrow()) }
  }

  async findLiveByHash(hash: Uint8Array): Promise<LiveToken | undefined> {
    const row = await this.#selectLive().where('tokens.hash', '=', hash).executeTakeFirst()
    return row && toLiveToken(row)
  }

  async findLive(id: number): Promise<LiveToken | undefined> {
    const row = await this.#selectLive().where('tokens.id', '=', id).executeTakeFirst()
    return row && toLiveToken(row)
  }

  /**
   * Whether a valid token looks like one of ours but has a wrong checksum, so that checksums cannot rule out tokens.
   */
  async hasUncheckable(): Promise<boolean> {
    const row = await this.#selectLive().where('tokens.is_checksum_valid', '=', 0).limit(1).executeTakeFirst()
    return row !== undefined
  }

  /** Oldest first, including revoked tokens; of one user or of all. */
  async list(userId?: number): Promise<Token[]> {
    let query = this.#db
      .selectFrom('tokens')
      .leftJoin('oauth_grants as maker', 'maker.id', 'tokens.grant_id')
      .selectAll('tokens')
      .select(['maker.revoked_at_ms as maker_revoked_at_ms', 'maker.expires_at_ms as maker_expires_at_ms'])
      .orderBy('tokens.id')
    if (userId !== undefined) query = query.where('tokens.user_id', '=', userId)
    const nowMs = this.#clock.nowMs()
    return (await query.execute()).map((row) => {
      const { maker_revoked_at_ms: revokedAtMs, maker_expires_at_ms: makerEndsAtMs } = row
      const expiresAtMs = earlier(row.expires_at_ms, makerEndsAtMs)
      const expiredAtMs = expiresAtMs !== null && expiresAtMs <= nowMs ? expiresAtMs : null
      return toToken({ ...row, revoked_at_ms: row.revoked_at_ms ?? revokedAtMs ?? expiredAtMs })
    })
  }

  /** Revokes the token and all tokens created with it. Returns false if it was revoked before. Throws 'not_found'. */
  async revoke(id: number): Promise<boolean> {
    const isRevoked = await inTransaction(this.#db, async (transaction) => {
      // Ends one generation after the other: each update waits for transactions that create tokens with the revoked
      // ones, and the next update sees those tokens.
      let ended = await this.#revoke(transaction, 'id', [id])
      const isAny = ended.length > 0
      while (ended.length > 0) ended = await this.#revoke(transaction, 'parent_id', ended)
      return isAny
    })
    if (isRevoked) {
      this.#feed.publish('records')
      return true
    }
    const known = await this.#db.selectFrom('tokens').select('id').where('id', '=', id).executeTakeFirst()
    if (!known) throw new AppError('not_found', `there is no token ${id}`)
    return false
  }

  async #revoke(
    transaction: Kysely<Tables>,
    column: 'id' | 'parent_id',
    ids: readonly number[],
  ): Promise<readonly number[]> {
    const rows = await transaction
      .updateTable('tokens')
      .set({ revoked_at_ms: this.#clock.nowMs() })
      .where(column, 'in', ids)
      .where('revoked_at_ms', 'is', null)
      .returning('id')
      .execute()
    return rows.map((row) => row.id)
  }

  /**
   * Maps token ids to times of last use, in Unix milliseconds. Publishes no change, because only the owner's list shows
   * them.
   */
  async setLastUsed(times: ReadonlyMap<number, number>): Promise<void> {
    if (times.size === 0) return
    await writeRelaxed(this.#db, (db) =>
      inTransaction(db, async (transaction) => {
        for (const [id, last_used_at_ms] of times) {
          await transaction.updateTable('tokens').set({ last_used_at_ms }).where('id', '=', id).execute()
        }
      }),
    )
  }

  #selectLive() {
    return (
      this.#db
        .selectFrom('tokens')
        .innerJoin('users', 'users.id', 'tokens.user_id')
        .leftJoin('oauth_grants as maker', 'maker.id', 'tokens.grant_id')
        .leftJoin('applications', 'applications.id', 'maker.application_id')
        .leftJoin('users as owner', 'owner.id', 'applications.owner_id')
        .select(['tokens.id', 'tokens.user_id', 'tokens.scope', 'users.credentials_version'])
        .select(['tokens.expires_at_ms', 'maker.expires_at_ms as maker_expires_at_ms'])
        .where('tokens.revoked_at_ms', 'is', null)
        .where('users.disabled_at_ms', 'is', null)
        // All null for a token that a person created.
        .where('maker.revoked_at_ms', 'is', null)
        .where('owner.disabled_at_ms', 'is', null)
    )
  }
}

type LiveRow = Pick<Row<'tokens'>, 'id' | 'user_id' | 'scope' | 'expires_at_ms'> &
  Pick<Row<'users'>, 'credentials_version'> & { readonly maker_expires_at_ms: number | null }

function toLiveToken(row: LiveRow): LiveToken {
  const { id, user_id: userId, scope, credentials_version: credentialsVersion } = row
  const expiresAtMs = earlier(row.expires_at_ms, row.maker_expires_at_ms)
  return { id, userId, scopes: scope.split(' '), expiresAtMs, credentialsVersion }
}

function toToken(row: Row<'tokens'>): Token {
  return {
    id: row.id,
    userId: row.user_id,
    name: row.name,
    scopes: row.scope.split(' '),
    prefix: row.prefix,
    lastFour: row.last_four,
    createdAtMs: row.created_at_ms,
    lastUsedAtMs: row.last_used_at_ms,
    expiresAtMs: row.expires_at_ms,
    revokedAtMs: row.revoked_at_ms,
  }
}

/** Null is never. */
function earlier(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b)
}

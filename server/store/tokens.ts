// Personal access tokens: what is kept of them, which does not suffice to use them.

import type { Kysely } from 'kysely'
import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import type { ChangePublisher } from './change-feed.ts'
import { isForeignKeyViolation, isUniqueViolation } from './constraint.ts'
import { writeRelaxed } from './durability.ts'
import { holdProven } from './proven-user.ts'
import type { Row, Tables } from './schema.ts'
import { inTransaction } from './transaction.ts'

export type Token = {
  readonly id: number
  readonly userId: number
  readonly name: string
  readonly scopes: readonly string[]
  /** How it begins and ends, so that the owner recognizes it. */
  readonly prefix: string
  readonly lastFour: string
  readonly createdAtMs: number
  /** To within a minute; null when never used. */
  readonly lastUsedAtMs: number | null
  readonly revokedAtMs: number | null
}

export type NewToken = Pick<Token, 'userId' | 'name' | 'scopes' | 'prefix' | 'lastFour'> & {
  /** SHA-256 of the token, 32 bytes. */
  readonly hash: Uint8Array
  /** False for a value that looks like ours but fails our checksum; see auth/personal-token.ts. */
  readonly isChecksumValid: boolean
  /** Of the account when its user proved to be one; missing when the owner of the server makes the token. */
  readonly credentialsVersion?: number | undefined
}

/** A token that may be used: not revoked, of an account that is not disabled. */
export type LiveToken = {
  readonly id: number
  readonly userId: number
  readonly scopes: readonly string[]
  /** Of the account, now. */
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
   * Throws 'conflict' when the same token exists, 'not_found' for an unknown user, and 'unauthenticated' when the account was changed
   * since `credentialsVersion`.
   */
  async insert(token: NewToken): Promise<Token> {
    try {
      const row = await inTransaction(this.#db, (transaction) => this.#insert(transaction, token))
      this.#feed.publish('records')
      return toToken(row)
    } catch (cause) {
      if (isUniqueViolation(cause)) throw new AppError('conflict', 'a token with this value exists already', { cause })
      if (isForeignKeyViolation(cause)) throw new AppError('not_found', `there is no user ${token.userId}`, { cause })
      throw cause
    }
  }

  async #insert(
    transaction: Kysely<Tables>,
    { userId, credentialsVersion, ...token }: NewToken,
  ): Promise<Row<'tokens'>> {
    if (credentialsVersion !== undefined) await holdProven(transaction, { id: userId, credentialsVersion })
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
      })
      .returningAll()
      .executeTakeFirstOrThrow()
  }

  async findLiveByHash(hash: Uint8Array): Promise<LiveToken | undefined> {
    const row = await this.#selectLive().where('tokens.hash', '=', hash).executeTakeFirst()
    return row && toLiveToken(row)
  }

  async findLive(id: number): Promise<LiveToken | undefined> {
    const row = await this.#selectLive().where('tokens.id', '=', id).executeTakeFirst()
    return row && toLiveToken(row)
  }

  /** Whether a token is in use that looks like ours but fails our checksum, so that the checksum cannot rule out any. */
  async hasUncheckable(): Promise<boolean> {
    const row = await this.#selectLive().where('tokens.is_checksum_valid', '=', 0).limit(1).executeTakeFirst()
    return row !== undefined
  }

  /** Newest last, revoked ones included; of one user, or of all. */
  async list(userId?: number): Promise<Token[]> {
    let query = this.#db.selectFrom('tokens').selectAll().orderBy('id')
    if (userId !== undefined) query = query.where('user_id', '=', userId)
    return (await query.execute()).map(toToken)
  }

  /** For good. False when it was revoked before. Throws 'not_found'. */
  async revoke(id: number): Promise<boolean> {
    const revoked = await this.#db
      .updateTable('tokens')
      .set({ revoked_at_ms: this.#clock.nowMs() })
      .where('id', '=', id)
      .where('revoked_at_ms', 'is', null)
      .returning('id')
      .executeTakeFirst()
    if (revoked) {
      this.#feed.publish('records')
      return true
    }
    const known = await this.#db.selectFrom('tokens').select('id').where('id', '=', id).executeTakeFirst()
    if (!known) throw new AppError('not_found', `there is no token ${id}`)
    return false
  }

  /** Token id to time of last use, Unix milliseconds. Tells nobody: no answer but the owner's list of tokens shows it. */
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
    return this.#db
      .selectFrom('tokens')
      .innerJoin('users', 'users.id', 'tokens.user_id')
      .select(['tokens.id', 'tokens.user_id', 'tokens.scope', 'users.credentials_version'])
      .where('tokens.revoked_at_ms', 'is', null)
      .where('users.disabled_at_ms', 'is', null)
  }
}

type LiveRow = Pick<Row<'tokens'>, 'id' | 'user_id' | 'scope'> & Pick<Row<'users'>, 'credentials_version'>

function toLiveToken({ id, user_id: userId, scope, credentials_version: credentialsVersion }: LiveRow): LiveToken {
  return { id, userId, scopes: scope.split(' '), credentialsVersion }
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
    revokedAtMs: row.revoked_at_ms,
  }
}

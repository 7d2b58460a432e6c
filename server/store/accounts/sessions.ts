// Signed-in browsers. A session's row is deleted when the session ends. For the lifetime of sessions, see
// auth/sessions/.

import type { Kysely } from 'kysely'
import { parseSecondFactorKind, type SecondFactorKind } from '../../model/second-factor-kind.ts'
import type { ChangePublisher } from '../engine/change-feed.ts'
import { writeRelaxed } from '../engine/durability.ts'
import { inTransaction } from '../engine/transaction.ts'
import type { Row, Tables } from '../schema.ts'
import { holdProven } from './proven-user.ts'

export type SessionRecord = {
  /** Identifies the session in lists and URLs. It does not allow anybody to use the session. */
  readonly id: string
  readonly userId: number
  readonly createdAtMs: number
  /** Accurate to some minutes. */
  readonly seenAtMs: number
  /** When the user last entered the password; 0 for never. */
  readonly passwordAtMs: number
  /** When the user last proved a second factor; null if the session was created without one. */
  readonly secondFactorAtMs: number | null
  /** Which second factor that was; null without one. */
  readonly secondFactor: SecondFactorKind | null
  /** The session was created without a required second factor and allows nothing until there is one. */
  readonly needsSecondFactor: boolean
  /** From the last sign-in. */
  readonly ip: string
  readonly userAgent: string | null
}

export type NewSession = SessionRecord & {
  /** Version of the account's credentials at the proof; see proven-user.ts. */
  readonly credentialsVersion: number
  /** SHA-256 of the cookie value, 32 bytes. */
  readonly hash: Uint8Array
}

/** Facts about the account that are read with a session. */
export type FoundSession = SessionRecord & {
  readonly credentialsVersion: number
  readonly hasSecondFactor: boolean
}

const columns = [
  'id',
  'user_id',
  'created_at_ms',
  'seen_at_ms',
  'password_at_ms',
  'second_factor_at_ms',
  'second_factor',
  'needs_second_factor',
  'ip',
  'user_agent',
] as const

export type Renewal = { readonly nowMs: number; readonly secondFactor: SecondFactorKind | undefined }

export class SessionRows {
  readonly #db: Kysely<Tables>
  readonly #feed: ChangePublisher

  /** `feed`: receives the ends of sessions, because grants that were created in a session end with it. */
  constructor(db: Kysely<Tables>, feed: ChangePublisher) {
    this.#db = db
    this.#feed = feed
  }

  /** Throws 'unauthenticated' if the account was changed since the proof. */
  async insert(session: NewSession): Promise<void> {
    await inTransaction(this.#db, async (transaction) => {
      await holdProven(transaction, { id: session.userId, credentialsVersion: session.credentialsVersion })
      await transaction
        .insertInto('sessions')
        .values({
          id: session.id,
          hash: session.hash,
          user_id: session.userId,
          created_at_ms: session.createdAtMs,
          seen_at_ms: session.seenAtMs,
          password_at_ms: session.passwordAtMs,
          second_factor_at_ms: session.secondFactorAtMs,
          second_factor: session.secondFactor,
          needs_second_factor: session.needsSecondFactor ? 1 : 0,
          ip: session.ip,
          user_agent: session.userAgent,
        })
        .execute()
    })
  }

  /** Finds a session of an account that is not disabled, with present facts about the account. */
  async findByHash(hash: Uint8Array): Promise<FoundSession | undefined> {
    const row = await this.#db
      .selectFrom('sessions')
      .innerJoin('users', 'users.id', 'sessions.user_id')
      .select(columns.map((column) => `sessions.${column}` as const))
      .select(['users.credentials_version', 'users.has_second_factor'])
      .where('sessions.hash', '=', hash)
      .where('users.disabled_at_ms', 'is', null)
      .executeTakeFirst()
    if (!row) return undefined
    const hasSecondFactor = row.has_second_factor === 1
    return { ...toSession(row), credentialsVersion: row.credentials_version, hasSecondFactor }
  }

  /** Most recently seen first. */
  async list(userId: number): Promise<SessionRecord[]> {
    const rows = await this.#db
      .selectFrom('sessions')
      .select(columns)
      .where('user_id', '=', userId)
      .orderBy('seen_at_ms', 'desc')
      .orderBy('id')
      .execute()
    return rows.map(toSession)
  }

  /** The session that this grant ends with; undefined for other people's applications. */
  async findOfGrant(grantId: number): Promise<string | undefined> {
    const row = await this.#db
      .selectFrom('oauth_grants')
      .select('session_id')
      .where('id', '=', grantId)
      .executeTakeFirst()
    return row?.session_id ?? undefined
  }

  async setSeen(id: string, seenAtMs: number): Promise<void> {
    await writeRelaxed(this.#db, (db) =>
      db.updateTable('sessions').set({ seen_at_ms: seenAtMs }).where('id', '=', id).execute(),
    )
  }

  /**
   * Gives the session another secret after the password, and possibly a second factor, was entered again. Returns false
   * if the session has ended.
   */
  async renew(id: string, hash: Uint8Array, { nowMs, secondFactor }: Renewal): Promise<boolean> {
    const proved = {
      ...{ password_at_ms: nowMs, seen_at_ms: nowMs },
      ...(secondFactor && { second_factor_at_ms: nowMs, second_factor: secondFactor }),
    }
    const row = await this.#db
      .updateTable('sessions')
      .set({ hash, ...proved })
      .where('id', '=', id)
      .returning('id')
      .executeTakeFirst()
    return row !== undefined
  }

  /** Returns false if the user has no such session. */
  async remove(userId: number, id: string): Promise<boolean> {
    const row = await this.#db
      .deleteFrom('sessions')
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .returning('id')
      .executeTakeFirst()
    if (row) this.#feed.publish('records')
    return row !== undefined
  }

  /** Ends all sessions of a user except `exceptId`. */
  async removeOfUser(userId: number, exceptId?: string): Promise<void> {
    let query = this.#db.deleteFrom('sessions').where('user_id', '=', userId)
    if (exceptId !== undefined) query = query.where('id', '<>', exceptId)
    const removed = await query.returning('id').execute()
    if (removed.length > 0) this.#feed.publish('records')
  }

  async removeExpired(bounds: { readonly seenBeforeMs: number; readonly createdBeforeMs: number }): Promise<void> {
    const removed = await this.#db
      .deleteFrom('sessions')
      .where((where) =>
        where.or([
          where('seen_at_ms', '<=', bounds.seenBeforeMs),
          where('created_at_ms', '<=', bounds.createdBeforeMs),
        ]),
      )
      .returning('id')
      .execute()
    if (removed.length > 0) this.#feed.publish('records')
  }
}

function toSession(row: Pick<Row<'sessions'>, (typeof columns)[number]>): SessionRecord {
  return {
    id: row.id,
    userId: row.user_id,
    createdAtMs: row.created_at_ms,
    seenAtMs: row.seen_at_ms,
    passwordAtMs: row.password_at_ms,
    secondFactorAtMs: row.second_factor_at_ms,
    secondFactor: parseSecondFactorKind(row.second_factor) ?? null,
    needsSecondFactor: row.needs_second_factor === 1,
    ip: row.ip,
    userAgent: row.user_agent,
  }
}

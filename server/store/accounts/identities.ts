// Identities at providers that may sign in to an account. They are identified by issuer and subject alone; the address
// is only for display and never compared.

import type { Kysely } from 'kysely'
import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'
import { conflictingAccount } from '../../model/account-fault.ts'
import { emailKey } from '../../model/email.ts'
import type { ChangePublisher } from '../engine/change-feed.ts'
import { isUniqueViolation } from '../engine/constraint.ts'
import { writeRelaxed } from '../engine/durability.ts'
import { inTransaction } from '../engine/transaction.ts'
import type { Row, Tables } from '../schema.ts'
import { lockAddress } from './address-lock.ts'
import { holdProven, type ProvenUser } from './proven-user.ts'
import { type NewUser, noPassword, toUser, type User, Users, userColumns } from './users.ts'

/** A person at a provider. */
export type Person = {
  readonly issuer: string
  /** `sub`, which the issuer assigns to nobody else. */
  readonly subject: string
  readonly email: string | null
}

export type Identity = Person & {
  readonly id: number
  readonly userId: number
  readonly createdAtMs: number
  readonly usedAtMs: number | null
}

export type NewIdentityUser = Pick<NewUser, 'firstName' | 'lastName'> & { readonly email: string }

export type UnlinkOptions = {
  /** True if identities of the issuer can sign in at present. */
  readonly isUsable: (issuer: string) => boolean
  /** The session to keep: this one, or the one that the calling grant belongs to. */
  readonly exceptSessionId?: string | undefined
  readonly exceptGrantId?: number | undefined
}

export class Identities {
  readonly #db: Kysely<Tables>
  readonly #feed: ChangePublisher
  readonly #clock: Clock

  constructor(db: Kysely<Tables>, feed: ChangePublisher, clock: Clock) {
    this.#db = db
    this.#feed = feed
    this.#clock = clock
  }

  /** The account that the identity signs in to, disabled or not. */
  async find({ issuer, subject }: Person): Promise<{ readonly identity: Identity; readonly user: User } | undefined> {
    const row = await this.#db
      .selectFrom('identities')
      .selectAll()
      .where('issuer', '=', issuer)
      .where('subject', '=', subject)
      .executeTakeFirst()
    if (!row) return undefined
    const user = await this.#db.selectFrom('users').select(userColumns).where('id', '=', row.user_id).executeTakeFirst()
    return user && { identity: toIdentity(row), user: toUser(user) }
  }

  /** In the order in which they were linked. */
  async list(userId: number): Promise<Identity[]> {
    const query = this.#db.selectFrom('identities').selectAll().where('user_id', '=', userId).orderBy('id')
    return (await query.execute()).map(toIdentity)
  }

  /** Notes a sign-in and the identity's present address. */
  async noteUse(id: number, email: string | null): Promise<void> {
    await writeRelaxed(this.#db, (db) =>
      db.updateTable('identities').set({ email, used_at_ms: this.#clock.nowMs() }).where('id', '=', id).execute(),
    )
  }

  /**
   * Links the identity to the account; false if it was linked already. Throws 'unauthenticated' if the account was
   * changed since the proof, 'conflict' if the identity is linked to another account or the account has another
   * identity of this issuer.
   */
  async link(user: ProvenUser, person: Person): Promise<boolean> {
    const isNew = await this.#change(async (transaction) => {
      await holdProven(transaction, user)
      const present = await transaction
        .selectFrom('identities')
        .select(['user_id', 'subject'])
        .where('issuer', '=', person.issuer)
        .where((where) => where.or([where('subject', '=', person.subject), where('user_id', '=', user.id)]))
        .execute()
      if (present.some(({ subject, user_id }) => subject === person.subject && user_id !== user.id)) throw taken()
      if (present.some(({ subject }) => subject !== person.subject)) throw otherPerson()
      if (present.length > 0) return false
      await this.#insert(transaction, user.id, person)
      return true
    })
    if (isNew) this.#feed.publish('records')
    return isNew
  }

  /**
   * Creates an account without a password that the identity signs in to. `needsInvitation`: consumes an invitation of
   * the address by a user who is not disabled. Throws 'forbidden' without one, 'conflict' if there is an account with
   * the address, the identity has an account, or there is no owner yet.
   */
  async addUser(account: NewIdentityUser, person: Person, needsInvitation: boolean): Promise<User> {
    const user = await this.#change(async (transaction) => {
      const users = new Users(transaction, { publish: () => {} }, this.#clock)
      await lockAddress(transaction, emailKey(account.email))
      if (!(await users.hasOwner())) throw conflictingAccount('set_up_not_yet')
      if (await users.findByEmail(account.email)) throw conflictingAccount('account_exists')
      if (needsInvitation) await useInvitation(transaction, account.email, this.#clock.nowMs())
      const added = await users.insert({ ...account, isOwner: false, passwordHash: noPassword })
      await this.#insert(transaction, added.id, person)
      return added
    })
    this.#feed.publish('records')
    return user
  }

  /** True if a user who is not disabled has invited the address. */
  async isInvited(email: string): Promise<boolean> {
    return (await findInvitation(this.#db, email, this.#clock.nowMs())) !== undefined
  }

  /**
   * Ends the sessions of the account too, but one; what is being made on a proof by this person is refused. Throws
   * 'not_found', and 'conflict' when nothing else signs in to the account.
   */
  async unlink(userId: number, id: number, options: UnlinkOptions): Promise<{ user: User; identity: Identity }> {
    const removed = await this.#change(async (transaction) => {
      const account = await transaction
        .selectFrom('users')
        .select([...userColumns, 'password_hash'])
        .where('id', '=', userId)
        .forNoKeyUpdate()
        .executeTakeFirst()
      const all = await transaction.selectFrom('identities').selectAll().where('user_id', '=', userId).execute()
      const row = all.find((each) => each.id === id)
      if (!account || !row) throw new AppError('not_found', 'you have no such linked account')
      const isOtherLeft = all.some((each) => each.id !== id && options.isUsable(each.issuer))
      if (account.password_hash === noPassword && !isOtherLeft) throw conflictingAccount('last_way_in')
      await transaction.deleteFrom('identities').where('id', '=', id).execute()
      await transaction
        .updateTable('users')
        .set({ credentials_version: account.credentials_version + 1 })
        .where('id', '=', userId)
        .execute()
      let sessions = transaction.deleteFrom('sessions').where('user_id', '=', userId)
      if (options.exceptSessionId !== undefined) sessions = sessions.where('id', '<>', options.exceptSessionId)
      if (options.exceptGrantId !== undefined) {
        const grants = transaction
          .selectFrom('oauth_grants')
          .select('session_id')
          .where('id', '=', options.exceptGrantId)
        sessions = sessions.where(
          'id',
          'not in',
          grants.where('session_id', 'is not', null).$castTo<{ session_id: string }>(),
        )
      }
      await sessions.execute()
      const user = { ...toUser(account), credentialsVersion: account.credentials_version + 1 }
      return { user, identity: toIdentity(row) }
    })
    this.#feed.publish('records')
    return removed
  }

  /** One of two concurrent requests is refused. */
  async #change<T>(work: (transaction: Kysely<Tables>) => Promise<T>): Promise<T> {
    try {
      return await inTransaction(this.#db, work)
    } catch (error) {
      throw isUniqueViolation(error) ? taken(error) : error
    }
  }

  async #insert(transaction: Kysely<Tables>, userId: number, { issuer, subject, email }: Person): Promise<void> {
    const times = { created_at_ms: this.#clock.nowMs(), used_at_ms: null }
    await transaction
      .insertInto('identities')
      .values({ user_id: userId, issuer, subject, email, ...times })
      .execute()
  }
}

async function findInvitation(db: Kysely<Tables>, email: string, nowMs: number) {
  return db
    .selectFrom('links')
    .innerJoin('users', 'users.id', 'links.inviter_id')
    .select('links.hash')
    .where('links.kind', '=', 'invitation')
    .where('links.email_key', '=', emailKey(email))
    .where('links.expires_at_ms', '>', nowMs)
    .where('users.disabled_at_ms', 'is', null)
    .executeTakeFirst()
}

async function useInvitation(transaction: Kysely<Tables>, email: string, nowMs: number): Promise<void> {
  const found = await findInvitation(transaction, email, nowMs)
  const used =
    found && (await transaction.deleteFrom('links').where('hash', '=', found.hash).returning('kind').execute())
  if (!used?.length) throw new AppError('forbidden', 'this address has not been invited')
}

function taken(cause?: unknown): AppError {
  return conflictingAccount('identity_taken', cause)
}

function otherPerson(): AppError {
  return conflictingAccount('identity_other')
}

function toIdentity(row: Row<'identities'>): Identity {
  return {
    id: row.id,
    userId: row.user_id,
    issuer: row.issuer,
    subject: row.subject,
    email: row.email,
    createdAtMs: row.created_at_ms,
    usedAtMs: row.used_at_ms,
  }
}

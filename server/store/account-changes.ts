// Changes of accounts that touch several tables: all or nothing of each, so that a link is used up exactly when it did what it was
// for, and a changed password leaves nobody signed in.

import type { Kysely } from 'kysely'
import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import type { ChangePublisher } from './change-feed.ts'
import { removeEventsOf } from './events.ts'
import { type Link, type LinkKind, toLink } from './links.ts'
import type { Tables } from './schema.ts'
import { inTransaction } from './transaction.ts'
import { type NewUser, type User, Users } from './users.ts'

type Person = Pick<NewUser, 'firstName' | 'lastName' | 'passwordHash'>

/** What ends besides sessions, grants and links. */
export type LogoutOptions = {
  /** One word, for the records of the grants. */
  readonly reason: string
  readonly exceptSessionId?: string | undefined
  readonly personalTokens?: boolean | undefined
}

export class AccountChanges {
  readonly #db: Kysely<Tables>
  readonly #feed: ChangePublisher
  readonly #clock: Clock

  constructor(db: Kysely<Tables>, feed: ChangePublisher, clock: Clock) {
    this.#db = db
    this.#feed = feed
    this.#clock = clock
  }

  /** Throws 'not_found' without the set-up code and 'conflict' when there is an owner, or an account for the address. */
  setUp(codeHash: Uint8Array, person: Person & { readonly email: string }): Promise<User> {
    return this.#change(async (transaction, users) => {
      await this.#useLink(transaction, 'setup', codeHash)
      if (await users.hasOwner()) throw new AppError('conflict', 'the server is set up already')
      await checkFree(users, person.email)
      return users.insert({ ...person, isOwner: true })
    })
  }

  /** Throws 'not_found' without the link and 'conflict' when there is an account for its address, or no owner yet. */
  acceptInvitation(linkHash: Uint8Array, person: Person): Promise<{ readonly user: User; readonly link: Link }> {
    return this.#change(async (transaction, users) => {
      const link = await this.#useLink(transaction, 'invitation', linkHash)
      if (!(await users.hasOwner())) throw new AppError('conflict', 'the server is not set up yet')
      await checkFree(users, link.email!)
      return { link, user: await users.insert({ ...person, email: link.email!, isOwner: false }) }
    })
  }

  /** Throws 'not_found' without the link, or when its account is disabled. */
  resetPassword(linkHash: Uint8Array, passwordHash: string, options: LogoutOptions): Promise<User> {
    return this.#change(async (transaction, users) => {
      const { userId } = await this.#useLink(transaction, 'reset', linkHash)
      const user = await users.get(userId!)
      if (user.disabledAtMs !== null) throw unknownLink()
      await users.setPasswordHash(user.id, passwordHash)
      await this.#logOut(transaction, user.id, options)
      return user
    })
  }

  /** Throws 'not_found'. */
  changePassword(userId: number, passwordHash: string, options: LogoutOptions): Promise<void> {
    return this.#change(async (transaction, users) => {
      await users.setPasswordHash(userId, passwordHash)
      await this.#logOut(transaction, userId, options)
    })
  }

  /** Throws 'not_found' without the link, or when it is not this user's, and 'conflict' when another account has the address by now. */
  changeEmail(
    linkHash: Uint8Array,
    userId: number,
    options: LogoutOptions,
  ): Promise<{ readonly user: User; readonly formerEmail: string }> {
    return this.#change(async (transaction, users) => {
      const link = await this.#useLink(transaction, 'email', linkHash)
      if (link.userId !== userId) throw unknownLink()
      const { email: formerEmail } = await users.get(userId)
      await checkFree(users, link.email!, userId)
      // Links too: one sent to the address that was left must not open the account any more.
      await this.#logOut(transaction, userId, options)
      return { user: await users.update(userId, { email: link.email! }), formerEmail }
    })
  }

  /** Without a link: by an owner. Throws 'not_found', and 'conflict' when another account has the address. */
  replaceEmail(userId: number, email: string): Promise<{ readonly user: User; readonly formerEmail: string }> {
    return this.#change(async (transaction, users) => {
      const { email: formerEmail } = await users.get(userId)
      await checkFree(users, email, userId)
      // Neither those sent to the address that was left, nor one that would bring back an address wished for before.
      await transaction.deleteFrom('links').where('user_id', '=', userId).execute()
      return { user: await users.update(userId, { email }), formerEmail }
    })
  }

  /** Throws 'not_found', and 'conflict' for the last owner. Enabled again, an account has its personal tokens. */
  setDisabled(userId: number, isDisabled: boolean): Promise<User> {
    return this.#change(async (transaction, users) => {
      if (isDisabled) {
        await this.#checkOtherOwner(transaction, await users.get(userId))
        await this.#logOut(transaction, userId, { reason: 'disabled' })
      }
      return users.setDisabled(userId, isDisabled)
    })
  }

  /** Throws 'not_found', and 'conflict' for the last owner. */
  setOwner(userId: number, isOwner: boolean): Promise<User> {
    return this.#change(async (transaction, users) => {
      if (!isOwner) await this.#checkOtherOwner(transaction, await users.get(userId))
      return users.setOwner(userId, isOwner)
    })
  }

  /** With everything that is the user's. Throws 'not_found', 'conflict' for the last owner, and for cameras unless they may go. */
  async remove(userId: number, { withCameras }: { readonly withCameras: boolean }): Promise<User> {
    const check = async (transaction: Kysely<Tables>, users: Users) => {
      const user = await users.get(userId)
      await this.#checkOtherOwner(transaction, user)
      const cameras = await transaction.selectFrom('cameras').select('id').where('owner_id', '=', userId).execute()
      if (cameras.length > 0 && !withCameras) {
        const what = cameras.length === 1 ? 'a camera' : `${cameras.length} cameras`
        throw new AppError('conflict', `${user.email} has ${what}, which would be removed with all footage`)
      }
      return { user, cameras }
    }
    const { cameras } = await inTransaction(this.#db, (transaction) => check(transaction, this.#users(transaction)))
    for (const { id } of cameras) await removeEventsOf(this.#db, id)
    return this.#change(async (transaction, users) => {
      const { user } = await check(transaction, users)
      await transaction.deleteFrom('cameras').where('owner_id', '=', userId).execute()
      await transaction.deleteFrom('users').where('id', '=', userId).execute()
      return user
    })
  }

  /** `users` works within the transaction. Everybody is told after the commit: who reads before would keep what was. */
  async #change<T>(work: (transaction: Kysely<Tables>, users: Users) => Promise<T>): Promise<T> {
    const result = await inTransaction(this.#db, (transaction) => work(transaction, this.#users(transaction)))
    this.#feed.publish('records')
    return result
  }

  #users(transaction: Kysely<Tables>): Users {
    return new Users(transaction, { publish: () => {} }, this.#clock)
  }

  async #useLink(transaction: Kysely<Tables>, kind: LinkKind, hash: Uint8Array): Promise<Link> {
    const row = await transaction
      .deleteFrom('links')
      .where('hash', '=', hash)
      .where('kind', '=', kind)
      .where('expires_at_ms', '>', this.#clock.nowMs())
      .returningAll()
      .executeTakeFirst()
    if (!row) throw unknownLink()
    return toLink(row)
  }

  async #logOut(transaction: Kysely<Tables>, userId: number, options: LogoutOptions): Promise<void> {
    const nowMs = this.#clock.nowMs()
    // Codes first, so that one being exchanged meanwhile either finds itself gone or has made its grant by now.
    await transaction.deleteFrom('oauth_codes').where('user_id', '=', userId).execute()
    await transaction
      .updateTable('oauth_grants')
      .set({ revoked_at_ms: nowMs, revoke_reason: options.reason })
      .where('user_id', '=', userId)
      .where('revoked_at_ms', 'is', null)
      .execute()
    let sessions = transaction.deleteFrom('sessions').where('user_id', '=', userId)
    if (options.exceptSessionId !== undefined) sessions = sessions.where('id', '<>', options.exceptSessionId)
    await sessions.execute()
    await transaction.deleteFrom('links').where('user_id', '=', userId).execute()
    if (!options.personalTokens) return
    await transaction
      .updateTable('tokens')
      .set({ revoked_at_ms: nowMs })
      .where('user_id', '=', userId)
      .where('revoked_at_ms', 'is', null)
      .execute()
  }

  async #checkOtherOwner(transaction: Kysely<Tables>, user: User): Promise<void> {
    if (!user.isOwner) return
    // All of them, in one order, so that two owners who end each other at the same time do not both succeed.
    const owners = await transaction
      .selectFrom('users')
      .select('id')
      .where('is_owner', '=', 1)
      .where('disabled_at_ms', 'is', null)
      .orderBy('id')
      .forUpdate()
      .execute()
    if (!owners.some(({ id }) => id !== user.id))
      throw new AppError('conflict', `${user.email} is the only owner: make another user one first`)
  }
}

/** Before the database says so: PostgreSQL answers nothing more in a transaction in which it has refused something. */
async function checkFree(users: Users, email: string, userId?: number): Promise<void> {
  const other = await users.findByEmail(email)
  if (other && other.id !== userId) throw new AppError('conflict', `there is already an account for ${email}`)
}

function unknownLink(): AppError {
  return new AppError('not_found', 'the link was used, has expired, or never existed')
}

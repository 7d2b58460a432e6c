// Changes to accounts that affect several tables. Each is atomic, so that a link is consumed exactly when its purpose
// succeeded, and changing a password leaves nobody signed in. Each begins by locking the account's row: concurrent
// sign-ins either wait for it, or finish first and are then signed out (see proven-user.ts).

import type { Kysely } from 'kysely'
import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'
import { type AccountFault, conflictingAccount } from '../../model/account-fault.ts'
import { emailKey } from '../../model/email.ts'
import { removeEventsOf } from '../cameras/events.ts'
import { takeWaitingGuests } from '../cameras/guest-address.ts'
import type { ChangePublisher } from '../engine/change-feed.ts'
import { isUniqueViolation } from '../engine/constraint.ts'
import { inTransaction } from '../engine/transaction.ts'
import type { Tables } from '../schema.ts'
import { lockAddress } from './address-lock.ts'
import { type Link, type LinkKind, toLink } from './links.ts'
import { credentialsChanged } from './proven-user.ts'
import { type NewUser, toUser, type User, Users, userColumns } from './users.ts'

type Person = Pick<NewUser, 'firstName' | 'lastName' | 'passwordHash'>

/** Fields that are not given stay unchanged. */
export type AccountChange = Partial<
  Pick<User, 'email' | 'firstName' | 'lastName' | 'phone' | 'isOwner' | 'mayAddCameras'>
> & {
  readonly passwordHash?: string
  readonly isDisabled?: boolean
}

/** What ends besides grants and links. */
export type LogOutOptions = {
  readonly exceptSessionId?: string | undefined
  readonly personalTokens?: boolean | undefined
}

export type ChangeOptions = LogOutOptions & {
  /** The change is refused ('unauthenticated') unless the account's credentials still have this version. */
  readonly credentialsVersion?: number
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

  /**
   * Throws 'not_found' without the setup code and 'conflict' if there is an owner or an account with the address.
   */
  setUp(codeHash: Uint8Array, person: Person & { readonly email: string }): Promise<User> {
    return this.#change(async (transaction, users) => {
      await this.#useLink(transaction, 'setup', codeHash)
      if (await users.hasOwner()) throw conflictingAccount('set_up_already')
      await checkFree(users, person.email)
      return users.insert({ ...person, isOwner: true })
    })
  }

  /**
   * Throws 'not_found' without the link or if its inviter is disabled, and 'conflict' if there is an account with its
   * address or no owner yet.
   */
  /** `guestsAddCameras`: somebody who was invited to a camera may also add own ones. */
  acceptInvitation(
    linkHash: Uint8Array,
    person: Person,
    guestsAddCameras: boolean,
  ): Promise<{ readonly user: User; readonly link: Link }> {
    return this.#change(async (transaction, users) => {
      const link = await this.#useLink(transaction, 'invitation', linkHash)
      if (!(await users.hasOwner())) throw conflictingAccount('set_up_not_yet')
      if (link.inviterId !== null && (await users.get(link.inviterId)).disabledAtMs !== null) throw unknownLink()
      await checkFree(users, link.email!)
      const mayAddCameras = guestsAddCameras || link.cameraId === null
      return { link, user: await users.insert({ ...person, email: link.email!, isOwner: false, mayAddCameras }) }
    })
  }

  /** Ends all sessions and grants. Throws 'not_found' without the link or if its account is disabled. */
  resetPassword(linkHash: Uint8Array, passwordHash: string, options: LogOutOptions): Promise<User> {
    return this.#change(async (transaction) => {
      const { userId } = await this.#findLink(transaction, 'reset', linkHash)
      const user = await this.#claim(transaction, userId!)
      await this.#useLink(transaction, 'reset', linkHash)
      if (user.disabledAtMs !== null) throw unknownLink()
      const changed = await this.#write(transaction, user, { passwordHash })
      await this.#logOut(transaction, user.id, 'password_reset', options)
      return changed
    })
  }

  /**
   * Throws 'not_found' without the link or if it belongs to another user, and 'conflict' if another account has the
   * address by now.
   */
  changeEmail(
    linkHash: Uint8Array,
    userId: number,
    options: LogOutOptions,
  ): Promise<{ readonly user: User; readonly former: User }> {
    return this.#change(async (transaction) => {
      const former = await this.#claim(transaction, userId)
      const link = await this.#useLink(transaction, 'email', linkHash)
      if (link.userId !== userId) throw unknownLink()
      const user = await this.#write(transaction, former, { email: link.email! })
      // Links end too: one sent to the previous address must no longer open the account.
      await this.#logOut(transaction, userId, 'email_changed', options)
      return { user, former }
    })
  }

  /**
   * Atomic. A new password ends sessions, grants and links; a new address ends links; disabling the account ends
   * all its credentials for good. Throws 'not_found', and 'conflict' for the last owner or an
   * address that another account has.
   */
  change(
    userId: number,
    change: AccountChange,
    options: ChangeOptions = {},
  ): Promise<{ readonly user: User; readonly former: User }> {
    return this.#change(async (transaction) => {
      if (change.isOwner === false || change.isDisabled) await this.#checkOtherOwner(transaction, userId)
      const former = await this.#claim(transaction, userId)
      if (options.credentialsVersion !== undefined && options.credentialsVersion !== former.credentialsVersion) {
        throw credentialsChanged()
      }
      const user = await this.#write(transaction, former, change)
      if (change.isDisabled && former.disabledAtMs === null) {
        await this.#logOut(transaction, userId, 'disabled', { personalTokens: true })
        await transaction.deleteFrom('links').where('inviter_id', '=', userId).execute()
      } else if (change.passwordHash !== undefined) {
        await this.#logOut(transaction, userId, 'password_changed', options)
      } else if (user.email !== former.email) {
        // Neither links sent to the previous address, nor one that would restore an address requested before.
        await transaction.deleteFrom('links').where('user_id', '=', userId).execute()
      }
      return { user, former }
    })
  }

  /** Ends all sessions, grants and links. `reason`: one word, for the records of the grants. Throws 'not_found'. */
  signOut(userId: number, reason: string, options: LogOutOptions = {}): Promise<User> {
    return this.#change(async (transaction) => {
      const user = await this.#claim(transaction, userId)
      const changed = await this.#write(transaction, user, {}, true)
      await this.#logOut(transaction, userId, reason, options)
      return changed
    })
  }

  /**
   * Also deletes everything that belongs to the user. Throws 'not_found', and 'conflict' for the last owner and for
   * cameras unless they may be deleted.
   */
  async remove(userId: number, { withCameras }: { readonly withCameras: boolean }): Promise<User> {
    const check = async (transaction: Kysely<Tables>) => {
      await this.#checkOtherOwner(transaction, userId)
      const user = await this.#claim(transaction, userId)
      const cameras = await transaction.selectFrom('cameras').select('id').where('owner_id', '=', userId).execute()
      if (cameras.length > 0 && !withCameras) {
        const what = cameras.length === 1 ? 'a camera' : `${cameras.length} cameras`
        throw new AppError('conflict', `${user.email} has ${what}, which would be deleted with all recordings`)
      }
      return { user, cameras }
    }
    const { cameras } = await inTransaction(this.#db, check)
    for (const { id } of cameras) await removeEventsOf(this.#db, id)
    return this.#change(async (transaction) => {
      const { user } = await check(transaction)
      await transaction.deleteFrom('cameras').where('owner_id', '=', userId).execute()
      await transaction.deleteFrom('users').where('id', '=', userId).execute()
      return user
    })
  }

  /**
   * `users` works within the transaction. Changes are published after the commit, or readers would cache the old state.
   */
  async #change<T>(work: (transaction: Kysely<Tables>, users: Users) => Promise<T>): Promise<T> {
    const result = await inTransaction(this.#db, (transaction) => work(transaction, this.#users(transaction)))
    this.#feed.publish('accounts')
    return result
  }

  #users(transaction: Kysely<Tables>): Users {
    return new Users(transaction, { publish: () => {} }, this.#clock)
  }

  /**
   * Locks the account until the end of the transaction. Not `for update`, which would block those who only insert rows
   * that refer to it, and might deadlock with them.
   */
  async #claim(transaction: Kysely<Tables>, userId: number): Promise<User> {
    const row = await transaction
      .selectFrom('users')
      .select(userColumns)
      .where('id', '=', userId)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (!row) throw new AppError('not_found', `there is no user ${userId}`)
    return toUser(row)
  }

  /**
   * Includes what waits for the address if it changes. If credentials change, their version
   * changes too.
   */
  async #write(
    transaction: Kysely<Tables>,
    former: User,
    { email, firstName, lastName, phone, isOwner, mayAddCameras, passwordHash, isDisabled }: AccountChange,
    endsSignIns = false,
  ): Promise<User> {
    const isMoved = email !== undefined && email !== former.email
    if (isMoved) await checkFree(this.#users(transaction), email, former.id)
    const isShut = isDisabled === true && former.disabledAtMs === null
    const values = {
      ...(isMoved && { email, email_key: emailKey(email) }),
      ...(firstName !== undefined && { first_name: firstName }),
      ...(lastName !== undefined && { last_name: lastName }),
      ...(phone !== undefined && { phone }),
      ...(isOwner !== undefined && { is_owner: isOwner ? 1 : 0 }),
      ...(mayAddCameras !== undefined && { may_add_cameras: mayAddCameras ? 1 : 0 }),
      ...(passwordHash !== undefined && { password_hash: passwordHash }),
      ...(isShut && { disabled_at_ms: this.#clock.nowMs() }),
      ...(isDisabled === false && { disabled_at_ms: null }),
      ...((isMoved || isShut || passwordHash !== undefined || endsSignIns) && {
        credentials_version: former.credentialsVersion + 1,
      }),
    }
    if (Object.keys(values).length === 0) return former
    try {
      if (isMoved) await lockAddress(transaction, emailKey(email))
      const query = transaction.updateTable('users').set(values).where('id', '=', former.id)
      const row = await query.returning(userColumns).executeTakeFirstOrThrow()
      if (isMoved) await takeWaitingGuests(transaction, former.id, emailKey(email))
      return toUser(row)
    } catch (cause) {
      if (isUniqueViolation(cause)) throw addressTaken(email!, cause)
      throw cause
    }
  }

  async #findLink(transaction: Kysely<Tables>, kind: LinkKind, hash: Uint8Array): Promise<Link> {
    const query = transaction.selectFrom('links').selectAll().where('hash', '=', hash).where('kind', '=', kind)
    const row = await query.where('expires_at_ms', '>', this.#clock.nowMs()).executeTakeFirst()
    if (!row) throw unknownLink()
    return toLink(row)
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

  async #logOut(
    transaction: Kysely<Tables>,
    userId: number,
    reason: string,
    { exceptSessionId, personalTokens }: LogOutOptions,
  ): Promise<void> {
    const nowMs = this.#clock.nowMs()
    // Codes first, so that one that is being exchanged is either gone or has already created its grant.
    await transaction.deleteFrom('oauth_codes').where('user_id', '=', userId).execute()
    await transaction
      .updateTable('oauth_grants')
      .set({ revoked_at_ms: nowMs, revoke_reason: reason })
      .where('user_id', '=', userId)
      .where('revoked_at_ms', 'is', null)
      .execute()
    let sessions = transaction.deleteFrom('sessions').where('user_id', '=', userId)
    if (exceptSessionId !== undefined) sessions = sessions.where('id', '<>', exceptSessionId)
    await sessions.execute()
    await transaction.deleteFrom('links').where('user_id', '=', userId).execute()
    if (!personalTokens) return
    await transaction
      .updateTable('tokens')
      .set({ revoked_at_ms: nowMs })
      .where('user_id', '=', userId)
      .where('revoked_at_ms', 'is', null)
      .execute()
  }

  /**
   * Locks all owners in one order before the account itself, so that two owners who remove each other at the same time
   * do not both succeed.
   */
  async #checkOtherOwner(transaction: Kysely<Tables>, userId: number): Promise<void> {
    const owners = await transaction
      .selectFrom('users')
      .select(['id', 'email'])
      .where('is_owner', '=', 1)
      .where('disabled_at_ms', 'is', null)
      .orderBy('id')
      .forNoKeyUpdate()
      .execute()
    const [only, other] = owners
    if (only?.id === userId && !other)
      throw new AppError('conflict', `${only.email} is the only owner; make another user an owner first`)
  }
}

/** Checked before the insert, because PostgreSQL refuses all statements of a transaction after an error. */
async function checkFree(users: Users, email: string, userId?: number): Promise<void> {
  const other = await users.findByEmail(email)
  if (other && other.id !== userId) throw addressTaken(email)
}

function addressTaken(email: string, cause?: unknown): AppError {
  const fault: AccountFault = 'account_exists'
  return new AppError('conflict', `there is already an account for ${email}`, {
    fault,
    ...(cause !== undefined && { cause }),
  })
}

function unknownLink(): AppError {
  return new AppError('not_found', 'the link is invalid, expired or already used')
}

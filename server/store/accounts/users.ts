// Accounts.

import { type Kysely, sql } from 'kysely'
import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'
import { emailKey } from '../../model/email.ts'
import { takeWaitingGuests } from '../cameras/guest-address.ts'
import type { ChangePublisher } from '../engine/change-feed.ts'
import { isUniqueViolation } from '../engine/constraint.ts'
import { insertWithId } from '../engine/given-id.ts'
import { inTransaction } from '../engine/transaction.ts'
import type { Row, Tables } from '../schema.ts'
import { lockAddress } from './address-lock.ts'

export type User = {
  readonly id: number
  /** As entered. Unique, ignoring case. */
  readonly email: string
  readonly firstName: string
  readonly lastName: string
  readonly phone: string | null
  /** The user manages the server and its users. */
  readonly isOwner: boolean
  /** False for somebody who was invited to a camera and only watches. Owners may add cameras in any case. */
  readonly mayAddCameras: boolean
  /** Emails about own cameras that are offline or not recorded. */
  readonly getsOutageMails: boolean
  /** Unix milliseconds; null while the account is not disabled. */
  readonly disabledAtMs: number | null
  /**
   * Incremented by every change of what signs in to the account: a new password or address, a second factor, disabling,
   * signing out everywhere.
   */
  readonly credentialsVersion: number
  /** If true, the password alone does not sign in. */
  readonly hasSecondFactor: boolean
  readonly createdAtMs: number
}

export type NewUser = {
  /** Set when moving from another server; otherwise the next free id is used. */
  readonly id?: number | undefined
  readonly email: string
  readonly firstName: string
  readonly lastName: string
  readonly phone?: string | null
  /** Default: true if there is no owner yet. */
  readonly isOwner?: boolean
  /** Default: true. */
  readonly mayAddCameras?: boolean
  /** A PHC string; see auth/password.ts. */
  readonly passwordHash: string
}

export type UserChange = Partial<Pick<User, 'firstName' | 'lastName' | 'phone' | 'getsOutageMails' | 'mayAddCameras'>>

/** Stored instead of a password hash; no password matches it. */
export const noPassword = ''

/** The columns that `toUser` reads. */
export const userColumns = [
  'id',
  'email',
  'first_name',
  'last_name',
  'phone',
  'is_owner',
  'may_add_cameras',
  'gets_outage_mails',
  'disabled_at_ms',
  'credentials_version',
  'has_second_factor',
  'created_at_ms',
] as const

/** The first account on a server is an owner. */
const ifNoOwner = sql<number>`case when exists (select 1 from users where is_owner = 1) then 0 else 1 end`

export class Users {
  readonly #db: Kysely<Tables>
  readonly #feed: ChangePublisher
  readonly #clock: Clock

  constructor(db: Kysely<Tables>, feed: ChangePublisher, clock: Clock) {
    this.#db = db
    this.#feed = feed
    this.#clock = clock
  }

  /** Assigns guests that are waiting for the address. Throws 'conflict' if the address or the id is taken. */
  async insert(user: NewUser): Promise<User> {
    const key = emailKey(user.email)
    try {
      const row = await inTransaction(this.#db, async (transaction) => {
        await lockAddress(transaction, key)
        const inserted = await insertWithId(transaction, { table: 'users', id: user.id }, (db) =>
          db
            .insertInto('users')
            .values({
              ...(user.id !== undefined && { id: user.id }),
              email: user.email,
              email_key: key,
              first_name: user.firstName,
              last_name: user.lastName,
              phone: user.phone ?? null,
              password_hash: user.passwordHash,
              is_owner: user.isOwner === undefined ? ifNoOwner : user.isOwner ? 1 : 0,
              may_add_cameras: user.mayAddCameras === false ? 0 : 1,
              disabled_at_ms: null,
              created_at_ms: this.#clock.nowMs(),
            })
            .returning(userColumns)
            .executeTakeFirstOrThrow(),
        )
        await takeWaitingGuests(transaction, inserted.id, key)
        return inserted
      })
      this.#feed.publish('accounts')
      return toUser(row)
    } catch (error) {
      throw isUniqueViolation(error) ? await this.#explainConflict(user.email, user.id, error) : error
    }
  }

  async find(id: number): Promise<User | undefined> {
    const row = await this.#db.selectFrom('users').select(userColumns).where('id', '=', id).executeTakeFirst()
    return row && toUser(row)
  }

  async findByEmail(email: string): Promise<User | undefined> {
    const key = emailKey(email)
    const row = await this.#db.selectFrom('users').select(userColumns).where('email_key', '=', key).executeTakeFirst()
    return row && toUser(row)
  }

  /** Finds an account by id. Throws 'not_found'. */
  async get(id: number): Promise<User> {
    const user = await this.find(id)
    if (!user) throw new AppError('not_found', `there is no user ${id}`)
    return user
  }

  /** The account and its password hash, for sign-in. */
  async findLogin(email: string): Promise<{ user: User; passwordHash: string } | undefined> {
    const row = await this.#db
      .selectFrom('users')
      .select([...userColumns, 'password_hash'])
      .where('email_key', '=', emailKey(email))
      .executeTakeFirst()
    return row && { user: toUser(row), passwordHash: row.password_hash }
  }

  /** Returns false for accounts that only identity providers sign in to. */
  async hasPassword(id: number): Promise<boolean> {
    const query = this.#db.selectFrom('users').select('password_hash').where('id', '=', id)
    return ((await query.executeTakeFirst())?.password_hash ?? noPassword) !== noPassword
  }

  /** All accounts, ordered by id. */
  async list(): Promise<User[]> {
    const rows = await this.#db.selectFrom('users').select(userColumns).orderBy('id').execute()
    return rows.map(toUser)
  }

  /** One page of `list`. */
  async listPage({ limit, offset }: { readonly limit: number; readonly offset: number }): Promise<User[]> {
    const query = this.#db.selectFrom('users').select(userColumns).orderBy('id').limit(limit).offset(offset)
    return (await query.execute()).map(toUser)
  }

  async count(): Promise<number> {
    const query = this.#db.selectFrom('users').select(({ fn }) => fn.countAll<number>().as('count'))
    return Number((await query.executeTakeFirstOrThrow()).count)
  }

  /** Of owners of the server. */
  async listOwnerIds(): Promise<number[]> {
    const rows = await this.#db.selectFrom('users').select('id').where('is_owner', '=', 1).execute()
    return rows.map(({ id }) => id)
  }

  /** Whether the server is set up. */
  async hasOwner(): Promise<boolean> {
    const query = this.#db.selectFrom('users').select('id').where('is_owner', '=', 1).limit(1)
    return (await query.executeTakeFirst()) !== undefined
  }

  /** Credentials and permissions are changed by `AccountChanges`. Throws 'not_found'. */
  async update(id: number, { firstName, lastName, phone, getsOutageMails, mayAddCameras }: UserChange): Promise<User> {
    const values = {
      ...(firstName !== undefined && { first_name: firstName }),
      ...(lastName !== undefined && { last_name: lastName }),
      ...(phone !== undefined && { phone }),
      ...(mayAddCameras !== undefined && { may_add_cameras: mayAddCameras ? 1 : 0 }),
      ...(getsOutageMails !== undefined && { gets_outage_mails: getsOutageMails ? 1 : 0 }),
    }
    if (Object.keys(values).length === 0) return this.get(id)
    const query = this.#db.updateTable('users').set(values).where('id', '=', id)
    const row = await query.returning(userColumns).executeTakeFirst()
    if (!row) throw new AppError('not_found', `there is no user ${id}`)
    this.#feed.publish('accounts')
    return toUser(row)
  }

  /**
   * Replaces the hash `from` by a new hash of the same password. Returns false, without a change, if the hash is
   * another one.
   */
  async replacePasswordHash(id: number, from: string, to: string): Promise<boolean> {
    const row = await this.#db
      .updateTable('users')
      .set({ password_hash: to })
      .where('id', '=', id)
      .where('password_hash', '=', from)
      .returning('id')
      .executeTakeFirst()
    return row !== undefined
  }

  async #explainConflict(email: string, id: number | undefined, cause: unknown): Promise<AppError> {
    const isEmailTaken = (await this.findByEmail(email)) !== undefined
    const message = isEmailTaken ? `there is already an account for ${email}` : `the user id ${id} is taken`
    return new AppError('conflict', message, { cause })
  }
}

export function toUser(row: Pick<Row<'users'>, (typeof userColumns)[number]>): User {
  return {
    id: row.id,
    email: row.email,
    firstName: row.first_name,
    lastName: row.last_name,
    phone: row.phone,
    isOwner: row.is_owner === 1,
    mayAddCameras: row.may_add_cameras === 1,
    getsOutageMails: row.gets_outage_mails === 1,
    disabledAtMs: row.disabled_at_ms,
    credentialsVersion: row.credentials_version,
    hasSecondFactor: row.has_second_factor === 1,
    createdAtMs: row.created_at_ms,
  }
}

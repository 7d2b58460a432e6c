// Accounts.

import { type Kysely, sql } from 'kysely'
import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import { emailKey } from '../model/email.ts'
import { lockAddress } from './address-lock.ts'
import type { ChangePublisher } from './change-feed.ts'
import { isUniqueViolation } from './constraint.ts'
import { insertWithId } from './given-id.ts'
import { takeWaitingGuests } from './guest-address.ts'
import type { Row, Tables } from './schema.ts'
import { inTransaction } from './transaction.ts'

export type User = {
  readonly id: number
  /** As entered; unique without regard to case. */
  readonly email: string
  readonly firstName: string
  readonly lastName: string
  readonly phone: string | null
  /** Manages the server and its users. */
  readonly isOwner: boolean
  /** Unix milliseconds; null while the account may be used. */
  readonly disabledAtMs: number | null
  readonly createdAtMs: number
}

export type NewUser = {
  /** Given when moving from another server; otherwise the next free one. */
  readonly id?: number | undefined
  readonly email: string
  readonly firstName: string
  readonly lastName: string
  readonly phone?: string | null
  /** When missing: whether there is no owner yet. */
  readonly isOwner?: boolean
  /** PHC string; see auth/password.ts. */
  readonly passwordHash: string
}

export type UserChange = Partial<Pick<User, 'email' | 'firstName' | 'lastName' | 'phone'>>

const columns = [
  'id',
  'email',
  'first_name',
  'last_name',
  'phone',
  'is_owner',
  'disabled_at_ms',
  'created_at_ms',
] as const

/** Of a server, the first who gets an account. */
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

  /** With what waits for the address. Throws 'conflict' when the address or the id is taken. */
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
              disabled_at_ms: null,
              created_at_ms: this.#clock.nowMs(),
            })
            .returning(columns)
            .executeTakeFirstOrThrow(),
        )
        await takeWaitingGuests(transaction, inserted.id, key)
        return inserted
      })
      this.#feed.publish('records')
      return toUser(row)
    } catch (error) {
      throw isUniqueViolation(error) ? await this.#explainConflict(user.email, user.id, error) : error
    }
  }

  async find(id: number): Promise<User | undefined> {
    const row = await this.#db.selectFrom('users').select(columns).where('id', '=', id).executeTakeFirst()
    return row && toUser(row)
  }

  async findByEmail(email: string): Promise<User | undefined> {
    const key = emailKey(email)
    const row = await this.#db.selectFrom('users').select(columns).where('email_key', '=', key).executeTakeFirst()
    return row && toUser(row)
  }

  /** By id. Throws 'not_found'. */
  async get(id: number): Promise<User> {
    const user = await this.find(id)
    if (!user) throw new AppError('not_found', `there is no user ${id}`)
    return user
  }

  /** The account and the hash of its password, for a log-in. */
  async findLogin(email: string): Promise<{ user: User; passwordHash: string } | undefined> {
    const row = await this.#db
      .selectFrom('users')
      .select([...columns, 'password_hash'])
      .where('email_key', '=', emailKey(email))
      .executeTakeFirst()
    return row && { user: toUser(row), passwordHash: row.password_hash }
  }

  /** All accounts in the order of their ids. */
  async list(): Promise<User[]> {
    const rows = await this.#db.selectFrom('users').select(columns).orderBy('id').execute()
    return rows.map(toUser)
  }

  /** As `list`, a part of it. */
  async listPage({ limit, offset }: { readonly limit: number; readonly offset: number }): Promise<User[]> {
    const query = this.#db.selectFrom('users').select(columns).orderBy('id').limit(limit).offset(offset)
    return (await query.execute()).map(toUser)
  }

  async count(): Promise<number> {
    const query = this.#db.selectFrom('users').select(({ fn }) => fn.countAll<number>().as('count'))
    return Number((await query.executeTakeFirstOrThrow()).count)
  }

  /** Whether the server is set up: nobody else can have people in. */
  async hasOwner(): Promise<boolean> {
    const query = this.#db.selectFrom('users').select('id').where('is_owner', '=', 1).limit(1)
    return (await query.executeTakeFirst()) !== undefined
  }

  /** With what waits for the address, if it is another one. Throws 'not_found', and 'conflict' when the address is taken. */
  async update(id: number, change: UserChange): Promise<User> {
    const { email, firstName, lastName, phone } = change
    const values = {
      ...(firstName !== undefined && { first_name: firstName }),
      ...(lastName !== undefined && { last_name: lastName }),
      ...(phone !== undefined && { phone }),
    }
    if (email === undefined) return this.#set(id, values)
    const key = emailKey(email)
    try {
      const user = await inTransaction(this.#db, async (transaction) => {
        await lockAddress(transaction, key)
        const changed = await setUser(transaction, id, { ...values, email, email_key: key })
        await takeWaitingGuests(transaction, id, key)
        return changed
      })
      this.#feed.publish('records')
      return user
    } catch (error) {
      throw isUniqueViolation(error) ? await this.#explainConflict(email, undefined, error) : error
    }
  }

  /** Throws 'not_found'. */
  async setOwner(id: number, isOwner: boolean): Promise<User> {
    return this.#set(id, { is_owner: isOwner ? 1 : 0 })
  }

  async setPasswordHash(id: number, passwordHash: string): Promise<void> {
    await this.#set(id, { password_hash: passwordHash })
  }

  /** Puts a new hash of the same password in place of `from`. False, and nothing done, when it is not the present one. */
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

  /** A disabled account keeps its cameras and footage; its credentials are refused. Throws 'not_found'. */
  async setDisabled(id: number, isDisabled: boolean): Promise<User> {
    return this.#set(id, { disabled_at_ms: isDisabled ? this.#clock.nowMs() : null })
  }

  async #set(id: number, values: Partial<Row<'users'>>): Promise<User> {
    if (Object.keys(values).length === 0) return this.get(id)
    const user = await setUser(this.#db, id, values)
    this.#feed.publish('records')
    return user
  }

  async #explainConflict(email: string, id: number | undefined, cause: unknown): Promise<AppError> {
    const isEmailTaken = (await this.findByEmail(email)) !== undefined
    const message = isEmailTaken ? `there is already an account for ${email}` : `the user id ${id} is taken`
    return new AppError('conflict', message, { cause })
  }
}

async function setUser(db: Kysely<Tables>, id: number, values: Partial<Row<'users'>>): Promise<User> {
  const row = await db.updateTable('users').set(values).where('id', '=', id).returning(columns).executeTakeFirst()
  if (!row) throw new AppError('not_found', `there is no user ${id}`)
  return toUser(row)
}

function toUser(row: Pick<Row<'users'>, (typeof columns)[number]>): User {
  return {
    id: row.id,
    email: row.email,
    firstName: row.first_name,
    lastName: row.last_name,
    phone: row.phone,
    isOwner: row.is_owner === 1,
    disabledAtMs: row.disabled_at_ms,
    createdAtMs: row.created_at_ms,
  }
}

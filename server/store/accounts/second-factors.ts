// Second factors of accounts: passkeys, an authenticator app and recovery codes. Each change begins with the account's
// row and increments the version of its credentials, so that nobody signs in with an earlier, weaker proof (see
// proven-user.ts).

import type { Kysely, Updateable } from 'kysely'
import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'
import type { SealedBox } from '../../base/sealed-box.ts'
import { conflictingAccount, maxPasskeys } from '../../model/account-fault.ts'
import type { SecondFactorKind } from '../../model/second-factor-kind.ts'
import type { ChangePublisher } from '../engine/change-feed.ts'
import { isUniqueViolation } from '../engine/constraint.ts'
import { inTransaction } from '../engine/transaction.ts'
import type { Row, Tables } from '../schema.ts'
import { credentialsChanged } from './proven-user.ts'
import { toUser, type User, userColumns } from './users.ts'

export type Passkey = {
  /** The credential id, base64url. Unique on the server. */
  readonly id: string
  readonly userId: number
  readonly name: string
  /** In COSE format. */
  readonly publicKey: Uint8Array
  /** The signature counter last reported by the authenticator; 0 for authenticators without one. */
  readonly counter: number
  /** Transports of the authenticator, for browsers. */
  readonly transports: readonly string[]
  readonly createdAtMs: number
  readonly lastUsedAtMs: number | null
}

export type NewPasskey = Pick<Passkey, 'id' | 'name' | 'publicKey' | 'counter' | 'transports'>

export type SecondFactorList = {
  /** Oldest first. */
  readonly passkeys: readonly Passkey[]
  /** Null if there is no authenticator app. */
  readonly appSinceMs: number | null
  readonly recoveryCodesLeft: number
}

/** The session that makes the change, with its account as it was at the proof. */
export type FactorChanger = {
  readonly userId: number
  readonly credentialsVersion: number
  readonly sessionId: string
}

export type FactorAddition = {
  readonly user: User
  /** The new recovery codes are valid from now on. */
  readonly isFirst: boolean
}

export class SecondFactors {
  readonly #db: Kysely<Tables>
  readonly #feed: ChangePublisher
  readonly #clock: Clock
  readonly #box: SealedBox

  constructor(parts: { db: Kysely<Tables>; feed: ChangePublisher; clock: Clock; box: SealedBox }) {
    this.#db = parts.db
    this.#feed = parts.feed
    this.#clock = parts.clock
    this.#box = parts.box
  }

  async list(userId: number): Promise<SecondFactorList> {
    const passkeys = this.#db.selectFrom('passkeys').selectAll().where('user_id', '=', userId)
    const app = this.#db.selectFrom('totp_secrets').select('created_at_ms').where('user_id', '=', userId)
    return {
      passkeys: (await passkeys.orderBy('created_at_ms').orderBy('id').execute()).map(toPasskey),
      appSinceMs: (await app.executeTakeFirst())?.created_at_ms ?? null,
      recoveryCodesLeft: await this.#countRecoveryCodes(userId),
    }
  }

  async findPasskey(id: string): Promise<Passkey | undefined> {
    const row = await this.#db.selectFrom('passkeys').selectAll().where('id', '=', id).executeTakeFirst()
    return row && toPasskey(row)
  }

  /** Whether any account has a passkey. */
  async hasPasskeys(): Promise<boolean> {
    return (await this.#db.selectFrom('passkeys').select('id').limit(1).executeTakeFirst()) !== undefined
  }

  /** The secret as base64url; undefined without an authenticator app. Throws 'corrupt'. */
  async findAppSecret(userId: number): Promise<string | undefined> {
    const query = this.#db.selectFrom('totp_secrets').select('sealed').where('user_id', '=', userId)
    const row = await query.executeTakeFirst()
    return row && this.#box.unseal(row.sealed, contextOf(userId))
  }

  /** Returns false if a code of this step or a later one was used before. Of two concurrent calls, one succeeds. */
  async takeStep(userId: number, step: number): Promise<boolean> {
    const row = await this.#db
      .updateTable('totp_secrets')
      .set({ last_step: step })
      .where('user_id', '=', userId)
      .where('last_step', '<', step)
      .returning('user_id')
      .executeTakeFirst()
    return row !== undefined
  }

  /** Returns how many codes are left; undefined if the account does not have this code, or no longer has it. */
  async takeRecoveryCode(userId: number, hash: Uint8Array): Promise<number | undefined> {
    const row = await this.#db
      .deleteFrom('recovery_codes')
      .where('hash', '=', hash)
      .where('user_id', '=', userId)
      .returning('user_id')
      .executeTakeFirst()
    return row && (await this.#countRecoveryCodes(userId))
  }

  /** Returns false if the passkey was removed or its counter has changed since the signature was checked. */
  async notePasskeyUse({ id, counter: former }: Passkey, counter: number): Promise<boolean> {
    const row = await this.#db
      .updateTable('passkeys')
      .set({ counter, last_used_at_ms: this.#clock.nowMs() })
      .where('id', '=', id)
      .where('counter', '=', former)
      .returning('id')
      .executeTakeFirst()
    return row !== undefined
  }

  /**
   * `usedStep`: the step of the code that proved the app. Throws 'conflict' if there is an app already, and the errors
   * of `#change`.
   */
  addApp(
    changer: FactorChanger,
    { secret, usedStep }: { readonly secret: string; readonly usedStep: number },
    recoveryHashes: readonly Uint8Array[],
  ): Promise<FactorAddition> {
    return this.#add(changer, 'app', recoveryHashes, async (transaction) => {
      const { userId } = changer
      const existing = transaction.selectFrom('totp_secrets').select('user_id').where('user_id', '=', userId)
      if (await existing.executeTakeFirst()) throw conflictingAccount('app_exists')
      const sealed = this.#box.seal(secret, contextOf(userId))
      const values = { user_id: userId, sealed, last_step: usedStep, created_at_ms: this.#clock.nowMs() }
      await transaction.insertInto('totp_secrets').values(values).execute()
    })
  }

  /** Throws 'conflict' if there are too many or the passkey is registered already, and the errors of `#change`. */
  async addPasskey(
    changer: FactorChanger,
    { id, name, publicKey, counter, transports }: NewPasskey,
    recoveryHashes: readonly Uint8Array[],
  ): Promise<FactorAddition> {
    const work = async (transaction: Kysely<Tables>) => {
      const { userId } = changer
      const others = await transaction.selectFrom('passkeys').select('id').where('user_id', '=', userId).execute()
      if (others.length >= maxPasskeys) throw conflictingAccount('passkeys_too_many')
      await transaction
        .insertInto('passkeys')
        .values({
          ...{ id, user_id: userId, name, public_key: publicKey, counter },
          transports: transports.join(' '),
          created_at_ms: this.#clock.nowMs(),
          last_used_at_ms: null,
        })
        .execute()
    }
    try {
      return await this.#add(changer, 'passkey', recoveryHashes, work)
    } catch (error) {
      throw isUniqueViolation(error) ? conflictingAccount('passkey_exists') : error
    }
  }

  /**
   * Throws 'not_found' without an app, 'conflict' for the last factor if it `mustStay`, and the errors of `#change`.
   */
  removeApp(changer: FactorChanger, mustStay: boolean): Promise<User> {
    return this.#remove(changer, mustStay, async (transaction) => {
      const query = transaction.deleteFrom('totp_secrets').where('user_id', '=', changer.userId)
      if (!(await query.returning('user_id').executeTakeFirst())) throw notThere()
    })
  }

  /** Throws the same errors as `removeApp`. */
  removePasskey(changer: FactorChanger, id: string, mustStay: boolean): Promise<User> {
    return this.#remove(changer, mustStay, async (transaction) => {
      const query = transaction.deleteFrom('passkeys').where('id', '=', id).where('user_id', '=', changer.userId)
      if (!(await query.returning('id').executeTakeFirst())) throw notThere()
    })
  }

  /** Replaces all recovery codes. Throws 'not_found' without a second factor, and the errors of `#change`. */
  replaceRecoveryCodes(changer: FactorChanger, hashes: readonly Uint8Array[]): Promise<User> {
    return this.#change(changer, async (transaction, user) => {
      if (!user.hasSecondFactor) throw notThere()
      await writeRecoveryCodes(transaction, user.id, hashes)
      return this.#write(transaction, user, {})
    })
  }

  /** Removes all second factors of an account. Throws 'not_found' for an unknown account. */
  async removeAll(userId: number): Promise<User> {
    const user = await inTransaction(this.#db, async (transaction) => {
      const claimed = await claim(transaction, userId)
      await transaction.deleteFrom('totp_secrets').where('user_id', '=', userId).execute()
      await transaction.deleteFrom('passkeys').where('user_id', '=', userId).execute()
      await transaction.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
      return this.#write(transaction, claimed, { has_second_factor: 0 })
    })
    this.#feed.publish('records')
    return user
  }

  #add(
    changer: FactorChanger,
    kind: SecondFactorKind,
    recoveryHashes: readonly Uint8Array[],
    work: (transaction: Kysely<Tables>) => Promise<void>,
  ): Promise<FactorAddition> {
    return this.#change(changer, async (transaction, user) => {
      await work(transaction)
      const isFirst = !user.hasSecondFactor
      if (isFirst) await writeRecoveryCodes(transaction, user.id, recoveryHashes)
      await transaction
        .updateTable('sessions')
        .set({ second_factor_at_ms: this.#clock.nowMs(), second_factor: kind, needs_second_factor: 0 })
        .where('id', '=', changer.sessionId)
        .execute()
      // Ends sessions that were signed in with the password alone, and what they have consented to and nobody has
      // redeemed yet. Codes first, as in `AccountChanges`.
      const unused = transaction.deleteFrom('oauth_codes').where('used_at_ms', 'is', null)
      await unused.where('user_id', '=', user.id).execute()
      await transaction
        .deleteFrom('sessions')
        .where('user_id', '=', user.id)
        .where('second_factor_at_ms', 'is', null)
        .execute()
      return { user: await this.#write(transaction, user, { has_second_factor: 1 }), isFirst }
    })
  }

  #remove(
    changer: FactorChanger,
    mustStay: boolean,
    work: (transaction: Kysely<Tables>) => Promise<void>,
  ): Promise<User> {
    return this.#change(changer, async (transaction, user) => {
      await work(transaction)
      const app = transaction.selectFrom('totp_secrets').select('user_id').where('user_id', '=', user.id)
      const passkey = transaction.selectFrom('passkeys').select('user_id').where('user_id', '=', user.id).limit(1)
      const isLeft = Boolean((await app.executeTakeFirst()) ?? (await passkey.executeTakeFirst()))
      if (isLeft) return this.#write(transaction, user, {})
      if (mustStay) throw conflictingAccount('second_factor_required')
      await writeRecoveryCodes(transaction, user.id, [])
      return this.#write(transaction, user, { has_second_factor: 0 })
    })
  }

  /** Throws 'unauthenticated' if the account was changed or the session has ended since both were read. */
  async #change<T>(
    { userId, credentialsVersion, sessionId }: FactorChanger,
    work: (transaction: Kysely<Tables>, user: User) => Promise<T>,
  ): Promise<T> {
    const result = await inTransaction(this.#db, async (transaction) => {
      const user = await claim(transaction, userId)
      const session = transaction.selectFrom('sessions').select('id').where('id', '=', sessionId)
      const isThere = (await session.where('user_id', '=', userId).executeTakeFirst()) !== undefined
      const isSame = user.credentialsVersion === credentialsVersion && user.disabledAtMs === null
      if (!isThere || !isSame) throw credentialsChanged()
      return work(transaction, user)
    })
    this.#feed.publish('records')
    return result
  }

  async #write(transaction: Kysely<Tables>, user: User, values: Updateable<Tables['users']>): Promise<User> {
    const row = await transaction
      .updateTable('users')
      .set({ ...values, credentials_version: user.credentialsVersion + 1 })
      .where('id', '=', user.id)
      .returning(userColumns)
      .executeTakeFirstOrThrow()
    return toUser(row)
  }

  async #countRecoveryCodes(userId: number): Promise<number> {
    const query = this.#db.selectFrom('recovery_codes').where('user_id', '=', userId)
    return Number((await query.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow()).count)
  }
}

/** Claims the account's row in the same way as `AccountChanges`. */
async function claim(transaction: Kysely<Tables>, userId: number): Promise<User> {
  const query = transaction.selectFrom('users').select(userColumns).where('id', '=', userId).forNoKeyUpdate()
  const row = await query.executeTakeFirst()
  if (!row) throw new AppError('not_found', `there is no user ${userId}`)
  return toUser(row)
}

async function writeRecoveryCodes(
  transaction: Kysely<Tables>,
  userId: number,
  hashes: readonly Uint8Array[],
): Promise<void> {
  await transaction.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
  if (hashes.length === 0) return
  const rows = hashes.map((hash) => ({ hash, user_id: userId }))
  await transaction.insertInto('recovery_codes').values(rows).execute()
}

function toPasskey(row: Row<'passkeys'>): Passkey {
  return {
    id: row.id,
    userId: row.user_id,
    name: row.name,
    publicKey: row.public_key,
    counter: row.counter,
    transports: row.transports.split(' ').filter((transport) => transport !== ''),
    createdAtMs: row.created_at_ms,
    lastUsedAtMs: row.last_used_at_ms,
  }
}

function notThere(): AppError {
  return new AppError('not_found', 'the account has no such second factor')
}

const contextOf = (userId: number) => `user ${userId} authenticator app`

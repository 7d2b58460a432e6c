// Values that work once, such as the challenge that a passkey signed. They say themselves until when they work, so only
// those that were used are stored, and only until then.

import { createHash } from 'node:crypto'
import type { Kysely } from 'kysely'
import { AppError } from '../../base/error.ts'
import { writeRelaxed } from '../engine/durability.ts'
import type { Tables } from '../schema.ts'

export type UsedValue = {
  /** Any text. Values of different kinds must differ. */
  readonly value: string
  /** When the value stops working by itself, Unix milliseconds. */
  readonly untilMs: number
  /** Who used it, if that is known. */
  readonly userId?: number
}

/** A user cannot fill the table. Others are limited by the number of their requests. */
const maxOfUser = 100
const retryAfterSeconds = 60

export class UsedValues {
  readonly #db: Kysely<Tables>

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  async isUsed(value: string): Promise<boolean> {
    const row = await this.#db
      .selectFrom('used_once')
      .select('until_ms')
      .where('digest', '=', digestOf(value))
      .executeTakeFirst()
    return row !== undefined
  }

  /**
   * Marks the value as used. Returns false if it was used before; of several simultaneous calls, on any server, only one
   * succeeds. Throws 'rate_limited' if the user has used too many at a time.
   */
  async use({ value, untilMs, userId }: UsedValue): Promise<boolean> {
    if (userId !== undefined) await this.#checkUser(userId)
    const row = { digest: digestOf(value), user_id: userId ?? null, until_ms: untilMs }
    const inserted = await writeRelaxed(this.#db, (db) =>
      db
        .insertInto('used_once')
        .values(row)
        .onConflict((conflict) => conflict.column('digest').doNothing())
        .returning('digest')
        .executeTakeFirst(),
    )
    return inserted !== undefined
  }

  /** Deletes those that have stopped working. */
  async deleteExpired(nowMs: number): Promise<void> {
    await writeRelaxed(this.#db, (db) => db.deleteFrom('used_once').where('until_ms', '<=', nowMs).execute())
  }

  async #checkUser(userId: number): Promise<void> {
    const { count } = await this.#db
      .selectFrom('used_once')
      .select((select) => select.fn.countAll().as('count'))
      .where('user_id', '=', userId)
      .executeTakeFirstOrThrow()
    if (Number(count) >= maxOfUser)
      throw new AppError('rate_limited', 'too many simultaneous sign-ins', { retryAfterSeconds })
  }
}

function digestOf(value: string): Uint8Array {
  return createHash('sha256').update(value).digest()
}

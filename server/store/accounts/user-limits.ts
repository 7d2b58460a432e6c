// The maximum number of bytes of footage per user, over all cameras. Without a row, only the archive limits the user.

import type { Kysely } from 'kysely'
import { AppError } from '../../base/error.ts'
import type { ChangePublisher } from '../engine/change-feed.ts'
import { isForeignKeyViolation } from '../engine/constraint.ts'
import type { Tables } from '../schema.ts'

export class UserLimits {
  readonly #db: Kysely<Tables>
  readonly #feed: ChangePublisher

  constructor(db: Kysely<Tables>, feed: ChangePublisher) {
    this.#db = db
    this.#feed = feed
  }

  /** Null for no limit. Throws 'not_found' for an unknown user. */
  async setMaxBytes(userId: number, maxBytes: number | null): Promise<void> {
    try {
      if (maxBytes === null) await this.#db.deleteFrom('user_limits').where('user_id', '=', userId).execute()
      else {
        await this.#db
          .insertInto('user_limits')
          .values({ user_id: userId, max_bytes: maxBytes })
          .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ max_bytes: maxBytes }))
          .execute()
      }
    } catch (cause) {
      if (isForeignKeyViolation(cause)) throw new AppError('not_found', `there is no user ${userId}`, { cause })
      throw cause
    }
    this.#feed.publish('records')
  }

  /** Null for no limit. */
  async findMaxBytes(userId: number): Promise<number | null> {
    const row = await this.#db
      .selectFrom('user_limits')
      .select('max_bytes')
      .where('user_id', '=', userId)
      .executeTakeFirst()
    return row?.max_bytes ?? null
  }

  /** The limits of all users that have one. */
  async list(): Promise<Map<number, number>> {
    const rows = await this.#db.selectFrom('user_limits').selectAll().execute()
    return new Map(rows.map((row) => [row.user_id, row.max_bytes]))
  }
}

// The time by which old data is deleted (model/trusted-time.ts): one row, from the last minute in which a server ran.

import type { Kysely } from 'kysely'
import type { TrustedTimeState } from '../../model/trusted-time.ts'
import { writeRelaxed } from '../engine/durability.ts'
import type { Tables } from '../schema.ts'

export class TrustedTimes {
  readonly #db: Kysely<Tables>

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  /** Undefined before the database's first server has run. */
  async find(): Promise<TrustedTimeState | undefined> {
    const row = await this.#db.selectFrom('trusted_time').selectAll().where('id', '=', 1).executeTakeFirst()
    return row && { timeMs: row.time_ms, doubtedMs: row.doubted_ms, leastMs: row.least_ms }
  }

  async write({ timeMs, doubtedMs, leastMs }: TrustedTimeState): Promise<void> {
    const values = {
      time_ms: Math.round(timeMs),
      doubted_ms: Math.round(doubtedMs),
      least_ms: Math.round(leastMs),
    }
    await writeRelaxed(this.#db, (db) =>
      db
        .insertInto('trusted_time')
        .values({ id: 1, ...values })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
        .execute(),
    )
  }
}

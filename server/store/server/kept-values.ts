// Values that live for minutes or hours and that every server of the database finds by a name. Whoever keeps them seals
// them. Names are stored as digests.

import { createHash } from 'node:crypto'
import type { Kysely } from 'kysely'
import { writeRelaxed } from '../engine/durability.ts'
import type { Tables } from '../schema.ts'

/** `sealed`: null if the name was claimed and nothing was put there yet. */
export type KeptValue = { readonly sealed: Uint8Array | null }

export class KeptValues {
  readonly #db: Kysely<Tables>

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  /** Returns false if the name is taken. Of several simultaneous calls, on any server, only one succeeds. */
  async claim(name: string, nowMs: number, untilMs: number): Promise<boolean> {
    const row = { sealed: null, until_ms: untilMs }
    const claimed = await writeRelaxed(this.#db, (db) =>
      db
        .insertInto('kept_values')
        .values({ digest: digestOf(name), ...row })
        .onConflict((conflict) => conflict.column('digest').doUpdateSet(row).where('kept_values.until_ms', '<=', nowMs))
        .returning('digest')
        .executeTakeFirst(),
    )
    return claimed !== undefined
  }

  /** Replaces what is there. */
  async put(name: string, sealed: Uint8Array, untilMs: number): Promise<void> {
    const row = { sealed, until_ms: untilMs }
    await writeRelaxed(this.#db, (db) =>
      db
        .insertInto('kept_values')
        .values({ digest: digestOf(name), ...row })
        .onConflict((conflict) => conflict.column('digest').doUpdateSet(row))
        .execute(),
    )
  }

  async find(name: string, nowMs: number): Promise<KeptValue | undefined> {
    return this.#db
      .selectFrom('kept_values')
      .select('sealed')
      .where('digest', '=', digestOf(name))
      .where('until_ms', '>', nowMs)
      .executeTakeFirst()
  }

  async remove(name: string): Promise<void> {
    await writeRelaxed(this.#db, (db) => db.deleteFrom('kept_values').where('digest', '=', digestOf(name)).execute())
  }

  /** Deletes expired values, and of too many those that would expire first: strangers can have long paths kept. */
  async deleteExpired(nowMs: number, maxRows = 2000): Promise<void> {
    await writeRelaxed(this.#db, (db) => db.deleteFrom('kept_values').where('until_ms', '<=', nowMs).execute())
    const rows = this.#db.selectFrom('kept_values')
    const { count } = await rows.select((select) => select.fn.countAll().as('count')).executeTakeFirstOrThrow()
    const excess = Number(count) - maxRows
    if (excess <= 0) return
    const first = rows.select('digest').orderBy('until_ms').limit(excess)
    await writeRelaxed(this.#db, (db) => db.deleteFrom('kept_values').where('digest', 'in', first).execute())
  }
}

function digestOf(name: string): Uint8Array {
  return createHash('sha256').update(name).digest()
}

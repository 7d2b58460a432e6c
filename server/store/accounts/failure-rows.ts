// Failed attempts that are counted by every server of the database, and after a restart. Keys are stored as digests, which
// have the same length whatever was typed.

import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { writeRelaxed } from '../engine/durability.ts'
import type { Tables } from '../schema.ts'

/** Times are Unix milliseconds. */
export type CountedFailures = { readonly count: number; readonly firstMs: number; readonly latestMs: number }

export type NewFailure = {
  readonly key: string
  /** When the failures are forgotten: so long after the first one, or with each one anew. */
  readonly lastsMs: number
  readonly isRenewed: boolean
}

export class FailureRows {
  readonly #db: Kysely<Tables>

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  /** By key; a key without failures, or with forgotten ones, is missing. */
  async find(keys: readonly string[], nowMs: number): Promise<ReadonlyMap<string, CountedFailures>> {
    const digests = new Map(keys.map((key) => [toText(digestOf(key)), key]))
    const rows = await this.#db
      .selectFrom('failed_attempts')
      .select(['digest', 'count', 'first_ms', 'latest_ms'])
      .where('digest', 'in', keys.map(digestOf))
      .where('until_ms', '>', nowMs)
      .execute()
    return new Map(
      rows.map(({ digest, count, first_ms: firstMs, latest_ms: latestMs }) => [
        digests.get(toText(digest))!,
        { count, firstMs, latestMs },
      ]),
    )
  }

  /** Counts one more failure of each key. Simultaneous calls, on any server, are all counted. */
  async add(failures: readonly NewFailure[], nowMs: number): Promise<void> {
    const write = (isRenewed: boolean) => {
      const rows = failures
        .filter((failure) => failure.isRenewed === isRenewed)
        .map(({ key, lastsMs }) => ({
          ...{ digest: digestOf(key), count: 1, first_ms: nowMs, latest_ms: nowMs },
          until_ms: nowMs + lastsMs,
        }))
      if (rows.length === 0) return undefined
      const isForgotten = sql`failed_attempts.until_ms <= excluded.latest_ms`
      return writeRelaxed(this.#db, (db) =>
        db
          .insertInto('failed_attempts')
          .values(rows)
          .onConflict((conflict) =>
            conflict.column('digest').doUpdateSet({
              count: sql`case when ${isForgotten} then 1 else failed_attempts.count + 1 end`,
              first_ms: sql`case when ${isForgotten} then excluded.first_ms else failed_attempts.first_ms end`,
              latest_ms: sql`excluded.latest_ms`,
              until_ms: isRenewed
                ? sql`excluded.until_ms`
                : sql`case when ${isForgotten} then excluded.until_ms else failed_attempts.until_ms end`,
            }),
          )
          .execute(),
      )
    }
    await Promise.all([write(true), write(false)])
  }

  async remove(keys: readonly string[]): Promise<void> {
    await writeRelaxed(this.#db, (db) =>
      db.deleteFrom('failed_attempts').where('digest', 'in', keys.map(digestOf)).execute(),
    )
  }

  /** Deletes forgotten failures, and of too many those that would be forgotten first. */
  async deleteExpired(nowMs: number, maxRows = 300_000): Promise<void> {
    await writeRelaxed(this.#db, (db) => db.deleteFrom('failed_attempts').where('until_ms', '<=', nowMs).execute())
    const rows = this.#db.selectFrom('failed_attempts')
    const { count } = await rows.select((select) => select.fn.countAll().as('count')).executeTakeFirstOrThrow()
    const excess = Number(count) - maxRows
    if (excess <= 0) return
    const first = rows.select('digest').orderBy('until_ms').limit(excess)
    await writeRelaxed(this.#db, (db) => db.deleteFrom('failed_attempts').where('digest', 'in', first).execute())
  }
}

function digestOf(key: string): Uint8Array {
  return createHash('sha256').update(key).digest()
}

const toText = (digest: Uint8Array) => Buffer.from(digest).toString('base64url')

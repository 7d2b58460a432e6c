// The servers of a PostgreSQL database. All times are those of the database's clock, Unix milliseconds: clocks of
// machines differ.

import { type Kysely, sql } from 'kysely'
import type { Tables } from '../schema.ts'

export type NewNode = {
  /** Unique among the servers that are alive. */
  readonly name: string
  /** Random, of this run. */
  readonly incarnation: string
  /** The machine, since it was started, and the data folder, which one process at a time uses. */
  readonly holder: string
  /** Where other servers reach it; null if they cannot. */
  readonly address: string | null
  readonly hasCameras: boolean
  /** How many the system gives it. */
  readonly processors: number
  readonly version: string
}

export type Node = NewNode & { readonly startedMs: number; readonly expiresMs: number; readonly isAlive: boolean }

/** The clock of a PostgreSQL database. */
export const nowMs = sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`

export class Nodes {
  readonly #db: Kysely<Tables>

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  async clockMs(): Promise<number> {
    const { rows } = await sql<{ now: number }>`select ${nowMs} as now`.execute(this.#db)
    return rows[0]!.now
  }

  /** By name. */
  async list(): Promise<Node[]> {
    const rows = await this.#db
      .selectFrom('nodes')
      .selectAll()
      .select(sql<boolean>`expires_ms > ${nowMs}`.as('is_alive'))
      .orderBy('name')
      .execute()
    return rows.map((row) => ({
      ...{ name: row.name, incarnation: row.incarnation, holder: row.holder, address: row.address },
      ...{ hasCameras: row.has_cameras === 1, processors: row.processors, version: row.version },
      ...{ startedMs: row.started_ms, expiresMs: row.expires_ms, isAlive: row.is_alive },
    }))
  }

  /**
   * Returns false if a server of the same name is alive. When this one starts, one with the same holder is not: no two
   * processes use one data folder.
   */
  async add(
    { name, hasCameras, ...values }: NewNode,
    { lastsMs, isStart }: { readonly lastsMs: number; readonly isStart: boolean },
  ): Promise<boolean> {
    const { incarnation, holder, address, processors, version } = values
    const row = {
      ...{ incarnation, holder, address, processors, version, has_cameras: hasCameras ? 1 : 0 },
      ...{ started_ms: nowMs, expires_ms: sql<number>`${nowMs} + ${sql.lit(lastsMs)}` },
    }
    const added = await this.#db
      .insertInto('nodes')
      .values({ name, ...row })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet(row)
          .where(({ or, eb }) =>
            or([eb('nodes.expires_ms', '<=', nowMs), ...(isStart ? [eb('nodes.holder', '=', holder)] : [])]),
          ),
      )
      .returning('name')
      .executeTakeFirst()
    return added !== undefined
  }

  /** Returns false if the row is gone, or is another run's. */
  async renew({ name, incarnation }: Pick<Node, 'name' | 'incarnation'>, lastsMs: number): Promise<boolean> {
    const renewed = await this.#db
      .updateTable('nodes')
      .set({ expires_ms: sql`${nowMs} + ${sql.lit(lastsMs)}` })
      .where('name', '=', name)
      .where('incarnation', '=', incarnation)
      .returning('name')
      .executeTakeFirst()
    return renewed !== undefined
  }

  async remove({ name, incarnation }: Pick<Node, 'name' | 'incarnation'>): Promise<void> {
    await this.#db.deleteFrom('nodes').where('name', '=', name).where('incarnation', '=', incarnation).execute()
  }

  /** Those that have been gone for so long. */
  async removeGone(forMs: number): Promise<void> {
    await this.#db
      .deleteFrom('nodes')
      .where('expires_ms', '<', sql<number>`${nowMs} - ${sql.lit(forMs)}`)
      .execute()
  }
}

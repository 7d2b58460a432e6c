// How fast devices report events, counted by all servers of a PostgreSQL database together. A row is when the bucket of a
// camera will be full again, as in base/rate-limiter.ts, by the clock of the database.

import { type Kysely, sql } from 'kysely'
import { describeRate, RateLimitError, type RateState } from '../../base/rate-limiter.ts'
import type { Tables } from '../schema.ts'
import { nowMs } from '../server/nodes.ts'

export class EventRates {
  readonly #db: Kysely<Tables>

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  /** Counts a request. After too many requests, throws RateLimitError and does not count. */
  async take(
    cameraId: number,
    { limit, windowMs }: { readonly limit: number; readonly windowMs: number },
  ): Promise<RateState> {
    const stepMs = sql.lit(Math.round(windowMs / limit))
    const known = sql`greatest(event_rates.full_ms, ${nowMs})`
    const { rows } = await sql<{ used: number }>`
      insert into event_rates (camera_id, full_ms) values (${cameraId}, ${nowMs} + ${stepMs})
      on conflict (camera_id) do update set full_ms = ${known} + ${stepMs}
      where ${known} + ${stepMs} - ${nowMs} <= ${sql.lit(windowMs)}
      returning full_ms - ${nowMs} as used`.execute(this.#db)
    const [taken] = rows
    if (taken) return describeRate(limit, windowMs, taken.used)
    const found = await sql<{ used: number }>`
      select greatest(0, full_ms - ${nowMs}) as used from event_rates where camera_id = ${cameraId}`.execute(this.#db)
    const used = found.rows[0]?.used ?? 0
    throw new RateLimitError(
      describeRate(limit, windowMs, used),
      Math.max(1, Math.ceil((used + windowMs / limit - windowMs) / 1000)),
    )
  }
}

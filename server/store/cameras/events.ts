// Events of cameras: added, listed newest first, and finally deleted, but never changed. Counts
// (event-counts.ts), and `outages` for events about one, are updated with each of them.

import { setImmediate } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'
import type { EventSource } from '../../model/event.ts'
import { dayMs, splitDays } from '../../model/event-days.ts'
import type { Page } from '../../model/page.ts'
import type { OpenRange } from '../../model/time-range.ts'
import type { ChangePublisher } from '../engine/change-feed.ts'
import { isForeignKeyViolation } from '../engine/constraint.ts'
import { inTransaction } from '../engine/transaction.ts'
import type { Row, Tables } from '../schema.ts'
import { columnOf, countAll, countDays, countOne, type EventScope, idOf, listDays, uncount } from './event-counts.ts'

export type CameraEvent = {
  readonly id: number
  readonly cameraId: number
  readonly title: string | null
  readonly category: string
  readonly source: EventSource
  readonly occurredAtMs: number
  readonly receivedAtMs: number
  /** JSON; null for none. */
  readonly data: string | null
}

export type NewCameraEvent = Omit<CameraEvent, 'id' | 'receivedAtMs'>

/** An outage begins with the event that reports it and ends with another one. */
export type OutageEdge = { readonly kind: 'begin'; readonly sinceMs: number } | { readonly kind: 'end' }

/** A filter: when they occurred and, optionally, their category. */
export type EventFilter = OpenRange & { readonly category?: string | undefined }

/** Smaller offsets are skipped within the index; for larger ones, whole days are skipped. */
const maxDirectOffset = 1000
/** Rows deleted at once; other requests run in between. */
const stepSize = 500

export class Events {
  readonly #db: Kysely<Tables>
  readonly #feed: ChangePublisher
  readonly #clock: Clock

  constructor(db: Kysely<Tables>, feed: ChangePublisher, clock: Clock) {
    this.#db = db
    this.#feed = feed
    this.#clock = clock
  }

  /**
   * `isDoubtful`: it may have been written already, by an attempt of which the answer was lost. Throws 'not_found' if
   * there is no such camera.
   */
  async insert(
    event: NewCameraEvent,
    outage?: OutageEdge,
    { isDoubtful = false }: { readonly isDoubtful?: boolean } = {},
  ): Promise<CameraEvent> {
    const { cameraId } = event
    try {
      const inserted = await inTransaction(this.#db, async (transaction) => {
        const camera = await transaction
          .selectFrom('cameras')
          .select('owner_id')
          .where('id', '=', cameraId)
          .executeTakeFirst()
        if (!camera) throw new AppError('not_found', `there is no camera ${cameraId}`)
        const known = isDoubtful ? await findSame(transaction, event) : undefined
        if (known) return toEvent(known)
        const row = await transaction
          .insertInto('events')
          .values({
            camera_id: cameraId,
            owner_id: camera.owner_id,
            title: event.title,
            category: event.category,
            source: event.source,
            occurred_at_ms: event.occurredAtMs,
            received_at_ms: this.#clock.nowMs(),
            data: event.data,
          })
          .returningAll()
          .executeTakeFirstOrThrow()
        await countOne(transaction, { cameraId, ownerId: camera.owner_id, occurredAtMs: event.occurredAtMs })
        if (outage) await noteOutage(transaction, cameraId, outage)
        return toEvent(row)
      })
      this.#feed.publish('events')
      return inserted
    } catch (cause) {
      if (isForeignKeyViolation(cause)) throw new AppError('not_found', `there is no camera ${cameraId}`, { cause })
      throw cause
    }
  }

  /** Newest first. Pages far back are as fast as the first one, unless very many events occurred on one day. */
  async list(scope: EventScope, filter: EventFilter, { limit, offset }: Page): Promise<CameraEvent[]> {
    // Counts by day cover all categories together.
    const isDirect = offset <= maxDirectOffset || filter.category !== undefined
    const place = isDirect ? { endMs: filter.endMs, offset } : await this.#locate(scope, filter, offset)
    if (!place) return []
    // Only rows of the page are read outside the index.
    const rows = await this.#db
      .selectFrom(
        this.#select(scope, { ...filter, endMs: place.endMs })
          .select('id')
          .orderBy('occurred_at_ms', 'desc')
          .orderBy('id', 'desc')
          .limit(limit)
          .offset(place.offset)
          .as('page'),
      )
      .innerJoin('events', 'events.id', 'page.id')
      .selectAll('events')
      .orderBy('events.occurred_at_ms', 'desc')
      .orderBy('events.id', 'desc')
      .execute()
    return rows.map(toEvent)
  }

  async count(scope: EventScope, filter: EventFilter): Promise<number> {
    if (filter.category !== undefined) return this.#countEach(scope, filter)
    if (filter.startMs === undefined && filter.endMs === undefined) return countAll(this.#db, scope)
    let count = 0
    for (const part of splitDays(filter)) {
      count += part.kind === 'edge' ? await this.#countEach(scope, part) : await countDays(this.#db, scope, part)
    }
    return count
  }

  /** Outages that were reported and have not ended: their start, by camera. */
  async listOutages(): Promise<Map<number, number>> {
    const rows = await this.#db.selectFrom('outages').selectAll().execute()
    return new Map(rows.map((row) => [row.camera_id, row.since_ms]))
  }

  /** Deletes at most one step and returns the number of deleted events. */
  async removeReceivedBefore(beforeMs: number): Promise<number> {
    return this.#remove((db) =>
      db
        .selectFrom('events')
        .select('id')
        .where('received_at_ms', '<', beforeMs)
        .orderBy('received_at_ms')
        .limit(stepSize),
    )
  }

  /** Cameras with more events than `max`, and how many more. */
  async listOverfull(max: number): Promise<{ cameraId: number; excess: number }[]> {
    const rows = await this.#db.selectFrom('event_totals').selectAll().where('count', '>', max).execute()
    return rows.map((row) => ({ cameraId: row.camera_id, excess: row.count - max }))
  }

  /** Deletes `count` of the camera's oldest events, at most one step, and returns the number of deleted events. */
  async removeLast(cameraId: number, count: number): Promise<number> {
    return this.#remove((db) => selectLast(db, cameraId, Math.min(count, stepSize)))
  }

  async #remove(select: Select): Promise<number> {
    const count = await removeSome(this.#db, select)
    if (count > 0) this.#feed.publish('events')
    return count
  }

  #select(scope: EventScope, { startMs, endMs, category }: EventFilter) {
    let query = this.#db.selectFrom('events').where(columnOf(scope), '=', idOf(scope))
    if (category !== undefined) query = query.where('category', '=', category)
    if (startMs !== undefined) query = query.where('occurred_at_ms', '>=', startMs)
    if (endMs !== undefined) query = query.where('occurred_at_ms', '<', endMs)
    return query
  }

  /** Skips events one by one within an index. */
  async #countEach(scope: EventScope, filter: EventFilter): Promise<number> {
    const { count } = await this.#select(scope, filter)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    return Number(count)
  }

  /** Finds `offset`: the day it is on, and how many events of that day to skip. Undefined beyond the last event. */
  async #locate(
    scope: EventScope,
    range: OpenRange,
    offset: number,
  ): Promise<{ endMs: number; offset: number } | undefined> {
    let left = offset
    for (const part of splitDays(range)) {
      if (part.kind === 'edge') {
        const count = await this.#countEach(scope, part)
        if (left < count) return { endMs: part.endMs, offset: left }
        left -= count
        continue
      }
      for (const { day, count } of await listDays(this.#db, scope, part)) {
        if (left < count) return { endMs: (day + 1) * dayMs, offset: left }
        left -= count
      }
    }
    return undefined
  }
}

/**
 * Deletes all events of a camera in steps before the camera itself, because deleting them at once would block everybody
 * else. Events added meanwhile are deleted with the camera.
 */
export async function removeEventsOf(db: Kysely<Tables>, cameraId: number): Promise<void> {
  while ((await removeSome(db, (transaction) => selectLast(transaction, cameraId, stepSize))) === stepSize) {
    await setImmediate()
  }
}

function selectLast(db: Kysely<Tables>, cameraId: number, limit: number) {
  return db
    .selectFrom('events')
    .select('id')
    .where('camera_id', '=', cameraId)
    .orderBy('occurred_at_ms')
    .orderBy('id')
    .limit(limit)
}

type Select = (db: Kysely<Tables>) => ReturnType<typeof selectLast>

async function removeSome(db: Kysely<Tables>, select: Select): Promise<number> {
  return inTransaction(db, async (transaction) => {
    const removed = await transaction
      .deleteFrom('events')
      .where('id', 'in', select(transaction))
      .returning(['camera_id as cameraId', 'occurred_at_ms as occurredAtMs'])
      .execute()
    await uncount(transaction, removed)
    return removed.length
  })
}

async function noteOutage(transaction: Kysely<Tables>, cameraId: number, outage: OutageEdge): Promise<void> {
  await transaction.deleteFrom('outages').where('camera_id', '=', cameraId).execute()
  if (outage.kind === 'end') return
  await transaction.insertInto('outages').values({ camera_id: cameraId, since_ms: outage.sinceMs }).execute()
}

function findSame(db: Kysely<Tables>, event: NewCameraEvent): Promise<Row<'events'> | undefined> {
  return db
    .selectFrom('events')
    .selectAll()
    .where('camera_id', '=', event.cameraId)
    .where('category', '=', event.category)
    .where('occurred_at_ms', '=', event.occurredAtMs)
    .where('source', '=', event.source)
    .executeTakeFirst()
}

function toEvent(row: Row<'events'>): CameraEvent {
  return {
    id: row.id,
    cameraId: row.camera_id,
    title: row.title,
    category: row.category,
    source: row.source,
    occurredAtMs: row.occurred_at_ms,
    receivedAtMs: row.received_at_ms,
    data: row.data,
  }
}

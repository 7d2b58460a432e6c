// The places that hold files of the archive.

import { type Kysely, sql } from 'kysely'
import { AppError } from '../../base/error.ts'
import { firstPlaceId, type Place } from '../../model/place.ts'
import type { ChangePublisher } from '../engine/change-feed.ts'
import { inTransaction } from '../engine/transaction.ts'
import type { Row, Tables } from '../schema.ts'

export class PlaceRows {
  readonly #db: Kysely<Tables>
  readonly #feed: ChangePublisher

  constructor(db: Kysely<Tables>, feed: ChangePublisher) {
    this.#db = db
    this.#feed = feed
  }

  /** In the order of their ids. */
  async list(): Promise<Place[]> {
    return (await this.#db.selectFrom('places').selectAll().orderBy('id').execute()).map(toPlace)
  }

  /** Throws 'conflict' when the mark is known. */
  async add({ folder, mark, weight, node }: Pick<Place, 'folder' | 'mark' | 'weight' | 'node'>): Promise<Place> {
    const row = await this.#db
      .insertInto('places')
      .values({ folder, mark, weight, ...(node !== undefined && { node }) })
      .onConflict((conflict) => conflict.column('mark').doNothing())
      .returningAll()
      .executeTakeFirst()
    if (!row) throw new AppError('conflict', 'this place is known already')
    // For the oldest files of a place, although most of a camera's are in another one. Servers with one folder save it.
    if (row.id !== firstPlaceId)
      await sql`create index if not exists segments_of_place on segments (camera_id, place_id, start_ms, id, end_ms, bytes) where is_closed = 1`.execute(
        this.#db,
      )
    this.#feed.publish('places')
    return toPlace(row)
  }

  async change(id: number, values: Partial<Pick<Place, 'folder' | 'weight' | 'isDraining' | 'node'>>): Promise<void> {
    const { folder, weight, isDraining, node } = values
    await this.#db
      .updateTable('places')
      .set({
        ...(folder !== undefined && { folder }),
        ...(weight !== undefined && { weight }),
        ...(node !== undefined && { node }),
        ...(isDraining !== undefined && { is_draining: isDraining ? 1 : 0 }),
      })
      .where('id', '=', id)
      .execute()
    this.#feed.publish('places')
  }

  /** Throws 'conflict' while files of it are known. */
  async remove(id: number): Promise<void> {
    await inTransaction(this.#db, async (transaction) => {
      for (const table of ['segments', 'pending_deletions'] as const) {
        const used = await transaction.selectFrom(table).select('id').where('place_id', '=', id).limit(1).execute()
        if (used.length > 0) throw new AppError('conflict', 'this place still holds recordings')
      }
      const copying = await transaction
        .selectFrom('copies')
        .select('path')
        .where('place_id', '=', id)
        .limit(1)
        .execute()
      if (copying.length > 0) throw new AppError('conflict', 'recordings are being moved to this place')
      await transaction.deleteFrom('footage').where('place_id', '=', id).execute()
      await transaction.deleteFrom('places').where('id', '=', id).execute()
    })
    this.#feed.publish('places')
  }
}

function toPlace(row: Row<'places'>): Place {
  const { id, folder, mark, weight, is_draining: isDraining, node } = row
  return { id, folder, mark, weight, isDraining: isDraining === 1, ...(node !== null && { node }) }
}

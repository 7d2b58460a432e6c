// Recorded streams that viewers have opened, so that they survive a restart of the server.

import type { Kysely } from 'kysely'
import { writeRelaxed } from '../engine/durability.ts'
import type { Row, Tables } from '../schema.ts'

export type Stream = {
  /** SHA-256 (32 bytes) of the id in the stream's URLs, so that the row alone does not allow anybody to watch. */
  readonly hash: Uint8Array
  readonly cameraId: number
  readonly userId: number
  /** The credential that requested the stream; the stream ends with it. */
  readonly credential: { readonly kind: 'personal' | 'grant'; readonly id: number }
  /** The requested range in Unix milliseconds. Without an end, the stream follows the newest footage. */
  readonly startMs: number
  readonly endMs: number | undefined
  readonly createdAtMs: number
  readonly state: 'playing' | 'paused'
  readonly speed: number
  /** What its playlist has listed so far, as opaque text. */
  readonly listing: string | undefined
  /** Wall clock of the footage that was fetched last. */
  readonly currentMs: number | undefined
  /** Increases with each change that demands one. */
  readonly version: number
}

export type StreamChange = Partial<Pick<Stream, 'state' | 'speed' | 'listing' | 'currentMs'>>

/** The maximum deleted per statement; the others are deleted next time. */
const maxRemoved = 500

/** None of these writes waits for the disk: if a power failure loses a stream, its viewer opens another one. */
export class Streams {
  readonly #db: Kysely<Tables>

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  async insert(stream: Stream): Promise<void> {
    await writeRelaxed(this.#db, (db) =>
      db
        .insertInto('streams')
        .values({
          hash: stream.hash,
          camera_id: stream.cameraId,
          user_id: stream.userId,
          credential_kind: stream.credential.kind,
          credential_id: stream.credential.id,
          start_ms: stream.startMs,
          end_ms: stream.endMs ?? null,
          created_at_ms: stream.createdAtMs,
          state: stream.state,
          speed: stream.speed,
          listing: stream.listing ?? null,
          current_ms: stream.currentMs ?? null,
          version: stream.version,
        })
        .execute(),
    )
  }

  async find(hash: Uint8Array): Promise<Stream | undefined> {
    const row = await this.#db.selectFrom('streams').selectAll().where('hash', '=', hash).executeTakeFirst()
    return row && toStream(row)
  }

  /**
   * Sets the fields in `change`, including those that are `undefined`. With a `version`, only if the row still has that
   * one, which then increases. Returns false if nothing was changed, also because the stream is gone.
   */
  async update(hash: Uint8Array, change: StreamChange, version?: number): Promise<boolean> {
    const values = {
      ...(change.state !== undefined && { state: change.state }),
      ...(change.speed !== undefined && { speed: change.speed }),
      ...('listing' in change && { listing: change.listing ?? null }),
      ...('currentMs' in change && { current_ms: change.currentMs ?? null }),
    }
    if (Object.keys(values).length === 0) return true
    const { numUpdatedRows } = await writeRelaxed(this.#db, (db) => {
      const update = db.updateTable('streams').where('hash', '=', hash)
      return version === undefined
        ? update.set(values).executeTakeFirst()
        : update
            .set({ ...values, version: version + 1 })
            .where('version', '=', version)
            .executeTakeFirst()
    })
    return numUpdatedRows > 0n
  }

  /** Keeps only the user's newest `count` streams, including `newest`. Returns the hashes of the deleted ones. */
  async removeOldest(userId: number, count: number, newest: Uint8Array): Promise<Uint8Array[]> {
    const others = this.#db
      .selectFrom('streams')
      .select('hash')
      .where('user_id', '=', userId)
      .where('hash', '!=', newest)
    const old = await others
      .orderBy('created_at_ms', 'desc')
      .orderBy('hash')
      .limit(maxRemoved)
      .offset(count - 1)
      .execute()
    if (old.length === 0) return []
    const hashes = old.map(({ hash }) => hash)
    await writeRelaxed(this.#db, (db) => db.deleteFrom('streams').where('hash', 'in', hashes).execute())
    return hashes
  }

  /** Streams of deleted cameras and users were deleted with them. */
  async removeExpired(createdBeforeMs: number): Promise<void> {
    await writeRelaxed(this.#db, (db) =>
      db.deleteFrom('streams').where('created_at_ms', '<', createdBeforeMs).execute(),
    )
  }
}

function toStream(row: Row<'streams'>): Stream {
  return {
    hash: row.hash,
    cameraId: row.camera_id,
    userId: row.user_id,
    credential: { kind: row.credential_kind, id: row.credential_id },
    startMs: row.start_ms,
    endMs: row.end_ms ?? undefined,
    createdAtMs: row.created_at_ms,
    state: row.state,
    speed: row.speed,
    listing: row.listing ?? undefined,
    currentMs: row.current_ms ?? undefined,
    version: row.version,
  }
}

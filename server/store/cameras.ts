// Cameras: where they are and what they last reported. The owner's user name and password, and the hash for events, are
// sealed in the row.

import type { Kysely } from 'kysely'
import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import { hideSecrets } from '../model/camera-url.ts'
import type { ChangePublisher } from './change-feed.ts'
import { isForeignKeyViolation, isUniqueViolation } from './constraint.ts'
import { writeRelaxed } from './durability.ts'
import { digestEventHash, openEventHash, sealEventHash } from './event-hash.ts'
import { removeEventsOf } from './events.ts'
import { insertWithId } from './given-id.ts'
import type { Row, Tables } from './schema.ts'
import type { SealedBox } from './sealed-box.ts'
import { inTransaction } from './transaction.ts'

export type CameraType = 'h264' | 'h265' | 'mjpeg'
export type CameraStatus = 'online' | 'offline' | 'unknown'

export type Camera = {
  readonly id: number
  readonly ownerId: number
  readonly name: string
  readonly type: CameraType
  /** Without user information. */
  readonly url: string
  /** In clear; sealed in the database. */
  readonly username: string | null
  readonly password: string | null
  /** 32 hexadecimal digits: whoever knows it may report events of this camera. */
  readonly eventApiHash: string
  readonly hasAudio: boolean
  /** Pictures damaged by loss are kept as they come, not dropped up to the next key frame. */
  readonly keepsDamaged: boolean
  readonly status: CameraStatus
  /** Why it is offline: as recordings know it, exactly, and for people; null while it is not. */
  readonly statusReason: string | null
  readonly statusCode: string | null
  readonly statusDetail: string | null
  readonly snapshotAtMs: number | null
  readonly createdAtMs: number
}

export type NewCamera = {
  /** Given when moving from another server; otherwise the next free one. Ids are never used twice. */
  readonly id?: number | undefined
  readonly ownerId: number
  readonly name: string
  readonly type: CameraType
  readonly url: string
  readonly username: string | null
  readonly password: string | null
  readonly hasAudio?: boolean
  /** How many cameras the owner may have with this one. */
  readonly maxOfOwner?: number | undefined
}

/** The last three while it is offline. */
export type NewStatus = {
  readonly status: CameraStatus
  readonly reason?: string
  readonly code?: string
  readonly detail?: string
}

export type CameraChange = Partial<Pick<Camera, 'name' | 'type' | 'url' | 'username' | 'password' | 'keepsDamaged'>>

export type CamerasOptions = {
  readonly db: Kysely<Tables>
  readonly feed: ChangePublisher
  readonly clock: Clock
  readonly box: SealedBox
  readonly randomBytes: (count: number) => Uint8Array
}

export class Cameras {
  readonly #db: Kysely<Tables>
  readonly #feed: ChangePublisher
  readonly #clock: Clock
  readonly #box: SealedBox
  readonly #randomBytes: (count: number) => Uint8Array

  constructor({ db, feed, clock, box, randomBytes }: CamerasOptions) {
    this.#db = db
    this.#feed = feed
    this.#clock = clock
    this.#box = box
    this.#randomBytes = randomBytes
  }

  /**
   * Throws 'conflict' when the id is taken, 'not_found' when the owner does not exist, and 'invalid' when they have too
   * many.
   */
  async insert(camera: NewCamera): Promise<Camera> {
    try {
      // The id is part of what is sealed, so the row comes first and its credentials in the same transaction.
      const row = await inTransaction(this.#db, async (transaction) => {
        if (camera.maxOfOwner !== undefined) await checkRoom(transaction, camera.ownerId, camera.maxOfOwner)
        const eventApiHash = this.#createEventApiHash()
        const { id } = await insertWithId(transaction, { table: 'cameras', id: camera.id }, (db) =>
          db
            .insertInto('cameras')
            .values({
              ...(camera.id !== undefined && { id: camera.id }),
              owner_id: camera.ownerId,
              name: camera.name,
              type: camera.type,
              url: hideSecrets(camera.url),
              credentials: null,
              // Nothing yet, but different for each row.
              event_hash_sealed: Buffer.from(digestEventHash(eventApiHash)).toString('hex'),
              event_hash_digest: digestEventHash(eventApiHash),
              has_audio: camera.hasAudio ? 1 : 0,
              status: 'unknown',
              status_reason: null,
              status_code: null,
              status_detail: null,
              snapshot_at_ms: null,
              created_at_ms: this.#clock.nowMs(),
            })
            .returning('id')
            .executeTakeFirstOrThrow(),
        )
        const credentials = this.#seal(id, camera)
        const sealed = { credentials, event_hash_sealed: sealEventHash(this.#box, id, eventApiHash) }
        const update = transaction.updateTable('cameras').set(sealed).where('id', '=', id).returningAll()
        return update.executeTakeFirstOrThrow()
      })
      this.#feed.publish({ camera: row.id })
      return this.#toCamera(row)
    } catch (cause) {
      if (isUniqueViolation(cause)) throw new AppError('conflict', `the camera id ${camera.id} is taken`, { cause })
      if (isForeignKeyViolation(cause)) throw new AppError('not_found', `there is no user ${camera.ownerId}`, { cause })
      throw cause
    }
  }

  async find(id: number): Promise<Camera | undefined> {
    const row = await this.#db.selectFrom('cameras').selectAll().where('id', '=', id).executeTakeFirst()
    return row && this.#toCamera(row)
  }

  /** Throws 'not_found'. */
  async get(id: number): Promise<Camera> {
    const camera = await this.find(id)
    if (!camera) throw new AppError('not_found', `there is no camera ${id}`)
    return camera
  }

  /** The time this takes tells nothing about how much of a guess is right. */
  async findByEventApiHash(hash: string): Promise<Camera | undefined> {
    const row = await this.#db
      .selectFrom('cameras')
      .selectAll()
      .where('event_hash_digest', '=', digestEventHash(hash))
      .executeTakeFirst()
    return row && this.#toCamera(row)
  }

  /** From now on the old hash is nobody's. Throws 'not_found'. */
  async rotateEventApiHash(id: number): Promise<Camera> {
    const eventApiHash = this.#createEventApiHash()
    const row = await this.#db
      .updateTable('cameras')
      .set({
        event_hash_sealed: sealEventHash(this.#box, id, eventApiHash),
        event_hash_digest: digestEventHash(eventApiHash),
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst()
    if (!row) throw new AppError('not_found', `there is no camera ${id}`)
    this.#feed.publish({ camera: id })
    return this.#toCamera(row)
  }

  /** A page of an owner's cameras in the order of their ids. */
  async listByOwner(ownerId: number, { limit, offset }: { limit: number; offset: number }): Promise<Camera[]> {
    const rows = await this.#db
      .selectFrom('cameras')
      .selectAll()
      .where('owner_id', '=', ownerId)
      .orderBy('id')
      .limit(limit)
      .offset(offset)
      .execute()
    return rows.map((row) => this.#toCamera(row))
  }

  async countByOwner(ownerId: number): Promise<number> {
    const { count } = await this.#db
      .selectFrom('cameras')
      .select((of) => of.fn.countAll<number>().as('count'))
      .where('owner_id', '=', ownerId)
      .executeTakeFirstOrThrow()
    return Number(count)
  }

  /** All cameras in the order of their ids. */
  async list(): Promise<Camera[]> {
    const rows = await this.#db.selectFrom('cameras').selectAll().orderBy('id').execute()
    return rows.map((row) => this.#toCamera(row))
  }

  /** Throws 'not_found'. */
  async update(id: number, change: CameraChange): Promise<Camera> {
    const row = await inTransaction(this.#db, async (transaction) => {
      const select = transaction.selectFrom('cameras').selectAll().where('id', '=', id).forUpdate()
      const current = await select.executeTakeFirst()
      if (!current) throw new AppError('not_found', `there is no camera ${id}`)
      const { name, type, url, username, password, keepsDamaged } = { ...this.#toCamera(current), ...change }
      return transaction
        .updateTable('cameras')
        .set({
          ...{ name, type, url: hideSecrets(url), keeps_damaged: keepsDamaged ? 1 : 0 },
          credentials: this.#seal(id, { url, username, password }),
        })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow()
    })
    this.#feed.publish({ camera: id })
    return this.#toCamera(row)
  }

  /** With its events. False when there was none. The footage stays until the archive's owner removes it. */
  async remove(id: number): Promise<boolean> {
    await removeEventsOf(this.#db, id)
    const removed = await this.#db.deleteFrom('cameras').where('id', '=', id).returning('id').executeTakeFirst()
    if (removed) this.#feed.publish({ camera: id })
    return removed !== undefined
  }

  /** Nothing is written, and nobody told, when it is so already. */
  async setStatus(id: number, state: NewStatus): Promise<void> {
    const { status, reason = null, code = null, detail = null } = state
    await this.#report((db) =>
      db
        .updateTable('cameras')
        .set({ status, status_reason: reason, status_code: code, status_detail: detail })
        .where('id', '=', id)
        .where((of) =>
          of.or([
            of('status', '!=', status),
            of('status_reason', 'is distinct from', reason),
            of('status_code', 'is distinct from', code),
            of('status_detail', 'is distinct from', detail),
          ]),
        )
        .returning('id')
        .execute(),
    )
  }

  /** What the camera was found to send. */
  async setFormat(id: number, { type, hasAudio }: { type: CameraType; hasAudio: boolean }): Promise<void> {
    const has_audio = hasAudio ? 1 : 0
    await this.#report((db) =>
      db
        .updateTable('cameras')
        .set({ type, has_audio })
        .where('id', '=', id)
        .where((of) => of.or([of('type', '!=', type), of('has_audio', '!=', has_audio)]))
        .returning('id')
        .execute(),
    )
  }

  async setSnapshotAt(id: number, snapshotAtMs: number): Promise<void> {
    await this.#report((db) =>
      db.updateTable('cameras').set({ snapshot_at_ms: snapshotAtMs }).where('id', '=', id).returning('id').execute(),
    )
  }

  /** At a start nothing is known yet: what a run that ended before said of its cameras is forgotten. */
  async resetStatus(): Promise<void> {
    await this.#report((db) =>
      db
        .updateTable('cameras')
        .set({ status: 'unknown', status_reason: null, status_code: null, status_detail: null })
        .where('status', '!=', 'unknown')
        .returning('id')
        .execute(),
    )
  }

  async #report(update: (db: Kysely<Tables>) => Promise<readonly unknown[]>): Promise<void> {
    const changed = await writeRelaxed(this.#db, update)
    if (changed.length > 0) this.#feed.publish('status')
  }

  #createEventApiHash(): string {
    return Buffer.from(this.#randomBytes(16)).toString('hex')
  }

  /** The address goes along where it holds a password, as some cameras want it; then its column has it without. */
  #seal(id: number, { url, username, password }: Pick<Camera, 'url' | 'username' | 'password'>): Uint8Array | null {
    const isUrlSecret = hideSecrets(url) !== url
    if (username === null && password === null && !isUrlSecret) return null
    return this.#box.seal(JSON.stringify([username, password, ...(isUrlSecret ? [url] : [])]), credentialsContext(id))
  }

  #toCamera(row: Row<'cameras'>): Camera {
    const opened = row.credentials && this.#box.open(row.credentials, credentialsContext(row.id))
    const [username, password, url = row.url] = opened ? (JSON.parse(opened) as Sealed) : [null, null]
    return {
      id: row.id,
      ownerId: row.owner_id,
      name: row.name,
      type: row.type,
      url,
      username,
      password,
      eventApiHash: openEventHash(this.#box, row.id, row.event_hash_sealed),
      hasAudio: row.has_audio === 1,
      keepsDamaged: row.keeps_damaged === 1,
      status: row.status,
      statusReason: row.status_reason,
      statusCode: row.status_code,
      statusDetail: row.status_detail,
      snapshotAtMs: row.snapshot_at_ms,
      createdAtMs: row.created_at_ms,
    }
  }
}

/** User name, password, and the address where it is secret itself. */
type Sealed = [string | null, string | null, string?]

const credentialsContext = (id: number) => `camera ${id} credentials`

/** Of two that are added at once, the second waits for the first. */
async function checkRoom(transaction: Kysely<Tables>, ownerId: number, max: number): Promise<void> {
  await transaction.selectFrom('users').select('id').where('id', '=', ownerId).forUpdate().execute()
  const query = transaction.selectFrom('cameras').select((of) => of.fn.countAll<number>().as('count'))
  const { count } = await query.where('owner_id', '=', ownerId).executeTakeFirstOrThrow()
  if (Number(count) < max) return
  const reason = `You have ${count} camera${Number(count) === 1 ? '' : 's'}; this server allows ${max} for each account (option camera-limit).`
  throw new AppError('invalid', reason, { fields: { non_field_errors: [reason] } })
}

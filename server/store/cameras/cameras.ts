// Cameras: their URLs and last reported status. The user name, the password and the event hash are sealed
// in the row.

import type { Kysely } from 'kysely'
import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'
import type { SealedBox } from '../../base/sealed-box.ts'
import { hideSecrets } from '../../model/camera-url.ts'
import type { ChangePublisher } from '../engine/change-feed.ts'
import { isForeignKeyViolation, isUniqueViolation } from '../engine/constraint.ts'
import { writeRelaxed } from '../engine/durability.ts'
import { insertWithId } from '../engine/given-id.ts'
import { inTransaction } from '../engine/transaction.ts'
import type { Row, Tables } from '../schema.ts'
import { digestEventHash, openEventHash, sealEventHash } from './event-hash.ts'
import { removeEventsOf } from './events.ts'
import { enableRecording, type PolicyChange } from './recordings.ts'

export type CameraType = 'h264' | 'h265' | 'mjpeg'
export type CameraStatus = 'online' | 'offline' | 'unknown'

export type Camera = {
  readonly id: number
  readonly ownerId: number
  readonly name: string
  readonly type: CameraType
  /** Without user information. */
  readonly url: string
  /** Plaintext here; sealed in the database. */
  readonly username: string | null
  readonly password: string | null
  /** 32 hexadecimal digits that authorize reporting events of this camera. */
  readonly eventApiHash: string
  readonly hasAudio: boolean
  /** Frames damaged by loss are recorded as received, instead of dropped until the next key frame. */
  readonly keepsDamaged: boolean
  readonly status: CameraStatus
  /** Why it is offline: the gap reason, the error code, and an explanation; null while it is not. */
  readonly statusReason: string | null
  readonly statusCode: string | null
  readonly statusDetail: string | null
  readonly snapshotAtMs: number | null
  readonly createdAtMs: number
}

export type NewCamera = {
  /** Given when migrating from another server; otherwise the next free id. Ids are never reused. */
  readonly id?: number | undefined
  readonly ownerId: number
  readonly name: string
  readonly type: CameraType
  readonly url: string
  readonly username: string | null
  readonly password: string | null
  readonly hasAudio?: boolean
  /** Recorded from its first frame on. Default: not. */
  readonly recording?: PolicyChange | undefined
  /** The maximum number of cameras of the owner, including this one. */
  readonly maxOfOwner?: number | undefined
}

/** The last three only while it is offline. */
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
   * Throws 'conflict' if the id is taken, 'not_found' if the owner does not exist, and 'invalid' if they have too
   * many.
   */
  async insert(camera: NewCamera): Promise<Camera> {
    try {
      // The id is part of what is sealed, so the row is inserted first and its credentials in the same transaction.
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
              // A unique placeholder.
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
        if (camera.recording) await enableRecording(transaction, id, camera.recording, this.#clock.nowMs())
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

  /** Takes constant time, so that it reveals nothing about how much of a guess is right. */
  async findByEventApiHash(hash: string): Promise<Camera | undefined> {
    const row = await this.#db
      .selectFrom('cameras')
      .selectAll()
      .where('event_hash_digest', '=', digestEventHash(hash))
      .executeTakeFirst()
    return row && this.#toCamera(row)
  }

  /** The previous hash stops working. Throws 'not_found'. */
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

  /** A page of an owner's cameras, ordered by id. */
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

  /** All cameras, ordered by id. */
  async list(): Promise<Camera[]> {
    const rows = await this.#db.selectFrom('cameras').selectAll().orderBy('id').execute()
    return rows.map((row) => this.#toCamera(row))
  }

  /** Throws 'not_found'. */
  /** In order. */
  async listIds(): Promise<number[]> {
    return (await this.#db.selectFrom('cameras').select('id').orderBy('id').execute()).map(({ id }) => id)
  }

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

  /** Also deletes its events. Returns false if there was none. The archive deletes the footage. */
  async remove(id: number): Promise<boolean> {
    await removeEventsOf(this.#db, id)
    const removed = await inTransaction(this.#db, async (transaction) => {
      // First, as the server does that has the camera and reports of it: otherwise, each might wait for the other.
      const leases = transaction.selectFrom('camera_leases').select('camera_id')
      await leases.where('camera_id', '=', id).forUpdate().execute()
      return transaction.deleteFrom('cameras').where('id', '=', id).returning('id').executeTakeFirst()
    })
    if (removed) this.#feed.publish({ camera: id })
    return removed !== undefined
  }

  /** Writes and publishes nothing if it is unchanged. */
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

  /** Stores the detected format. */
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

  /** How many cameras of all accounts have each status, whichever server they are connected to. */
  async countByStatus(): Promise<{ status: CameraStatus; reason: string | null; count: number }[]> {
    const rows = await this.#db
      .selectFrom('cameras')
      .select(({ fn }) => ['status', 'status_reason', fn.countAll<number | string>().as('count')])
      .groupBy(['status', 'status_reason'])
      .execute()
    return rows.map(({ status, status_reason: reason, count }) => ({ status, reason, count: Number(count) }))
  }

  /** Resets the status of these cameras, or of all, when the server starts. */
  async resetStatus(ids?: readonly number[]): Promise<void> {
    if (ids?.length === 0) return
    await this.#report((db) =>
      db
        .updateTable('cameras')
        .set({ status: 'unknown', status_reason: null, status_code: null, status_detail: null })
        .where('status', '!=', 'unknown')
        .$if(ids !== undefined, (query) => query.where('id', 'in', ids!))
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

  /** Some camera URLs contain a password. Then the URL is sealed too, and its column holds it without the password. */
  #seal(id: number, { url, username, password }: Pick<Camera, 'url' | 'username' | 'password'>): Uint8Array | null {
    const isUrlSecret = hideSecrets(url) !== url
    if (username === null && password === null && !isUrlSecret) return null
    return this.#box.seal(JSON.stringify([username, password, ...(isUrlSecret ? [url] : [])]), credentialsContext(id))
  }

  #toCamera(row: Row<'cameras'>): Camera {
    const opened = row.credentials && this.#box.unseal(row.credentials, credentialsContext(row.id))
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

/** User name, password, and the URL if it is secret itself. */
type Sealed = [string | null, string | null, string?]

const credentialsContext = (id: number) => `camera ${id} credentials`

/** Of two concurrent inserts, the second waits for the first. */
async function checkRoom(transaction: Kysely<Tables>, ownerId: number, max: number): Promise<void> {
  await transaction.selectFrom('users').select('id').where('id', '=', ownerId).forUpdate().execute()
  const query = transaction.selectFrom('cameras').select((of) => of.fn.countAll<number>().as('count'))
  const { count } = await query.where('owner_id', '=', ownerId).executeTakeFirstOrThrow()
  if (Number(count) < max) return
  const reason = `You have ${count} camera${Number(count) === 1 ? '' : 's'}; this server allows ${max} for each account (option camera-limit).`
  throw new AppError('invalid', reason, { fields: { non_field_errors: [reason] } })
}

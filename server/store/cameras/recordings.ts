// The recording of a camera: whether it is on, how long footage is kept, and its status. At most one row per camera.

import type { Kysely } from 'kysely'
import type { RecordingStatus } from '../../../contract/recording-status.ts'
import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'
import type { ChangePublisher } from '../engine/change-feed.ts'
import { isForeignKeyViolation } from '../engine/constraint.ts'
import { writeRelaxed } from '../engine/durability.ts'
import type { Row, Tables } from '../schema.ts'

export type Recording = {
  readonly cameraId: number
  readonly activeServiceId: number
  /** ISO 8601, for example P7D. */
  readonly retention: string
  /** Maximum size of the footage in bytes; null for no limit. */
  readonly maxBytes: number | null
  /** How long footage stays on the local disks if there is a bucket, ISO 8601; null: as the bucket says. */
  readonly localRetention: string | null
  readonly status: RecordingStatus
  /** A sentence for the owner while `status` is ERROR. */
  readonly statusDetail: string | null
  readonly enabledAtMs: number
  /** Null while recording is turned on; afterwards, footage is kept as long as `retention` says. */
  readonly deactivatedAtMs: number | null
  /** When recording stops or has stopped; null for never. See model/recording-run.ts. */
  readonly recordsUntilMs: number | null
}

export type RecordingPolicy = Pick<
  Recording,
  'cameraId' | 'retention' | 'maxBytes' | 'localRetention' | 'deactivatedAtMs'
> & {
  readonly ownerId: number
}

export type PolicyChange = Pick<Recording, 'retention' | 'maxBytes'> & Partial<Pick<Recording, 'localRetention'>>

export class Recordings {
  readonly #db: Kysely<Tables>
  readonly #feed: ChangePublisher
  readonly #clock: Clock

  constructor(db: Kysely<Tables>, feed: ChangePublisher, clock: Clock) {
    this.#db = db
    this.#feed = feed
    this.#clock = clock
  }

  /**
   * Turns recording on and starts it, or changes its policy while it is on. Throws 'not_found' for an unknown
   * camera.
   */
  async enable(cameraId: number, policy: PolicyChange): Promise<Recording> {
    try {
      const row = await enableRecording(this.#db, cameraId, policy, this.#clock.nowMs())
      this.#feed.publish({ camera: cameraId })
      return toRecording(row)
    } catch (cause) {
      if (isForeignKeyViolation(cause)) throw new AppError('not_found', `there is no camera ${cameraId}`, { cause })
      throw cause
    }
  }

  /** Changes only the policy: a stopped recording stays stopped. Throws 'not_found' if recording is turned off. */
  async update(cameraId: number, policy: PolicyChange): Promise<Recording> {
    const row = await this.#db
      .updateTable('recordings')
      .set(toColumns(policy))
      .where('camera_id', '=', cameraId)
      .where('deactivated_at_ms', 'is', null)
      .returningAll()
      .executeTakeFirst()
    if (row === undefined) throw new AppError('not_found', `camera ${cameraId} is not recorded`)
    this.#feed.publish({ camera: cameraId })
    return toRecording(row)
  }

  /**
   * Starts recording until the given time or, for null, without end. Never ends a running recording earlier. Does
   * nothing if recording is turned off.
   */
  async start(cameraId: number, untilMs: number | null): Promise<void> {
    const start = this.#db
      .updateTable('recordings')
      .set({ records_until_ms: untilMs })
      .where('camera_id', '=', cameraId)
      .where('deactivated_at_ms', 'is', null)
    const later = untilMs === null ? start : start.where('records_until_ms', '<', untilMs)
    await later.execute()
    this.#feed.publish({ camera: cameraId })
  }

  /** Stops recording. It stays turned on and can be started again. */
  async stop(cameraId: number): Promise<void> {
    await this.#db
      .updateTable('recordings')
      .set({ records_until_ms: 0 }) // not the present time: the clock may be set back
      .where('camera_id', '=', cameraId)
      .where('deactivated_at_ms', 'is', null)
      .execute()
    this.#feed.publish({ camera: cameraId })
  }

  /** Returns false if it was not turned on. */
  async disable(cameraId: number): Promise<boolean> {
    const disabled = await this.#db
      .updateTable('recordings')
      .set({ deactivated_at_ms: this.#clock.nowMs(), status: 'READY', status_detail: null })
      .where('camera_id', '=', cameraId)
      .where('deactivated_at_ms', 'is', null)
      .returning('camera_id')
      .executeTakeFirst()
    if (disabled) this.#feed.publish({ camera: cameraId })
    return disabled !== undefined
  }

  /** Finds recordings that are turned off too; see `deactivatedAtMs`. */
  async find(cameraId: number): Promise<Recording | undefined> {
    const row = await this.#db.selectFrom('recordings').selectAll().where('camera_id', '=', cameraId).executeTakeFirst()
    return row && toRecording(row)
  }

  /** Recordings of these cameras in no particular order, including those that are turned off. */
  async listByCameras(cameraIds: readonly number[]): Promise<Recording[]> {
    if (cameraIds.length === 0) return []
    const rows = await this.#db.selectFrom('recordings').selectAll().where('camera_id', 'in', cameraIds).execute()
    return rows.map(toRecording)
  }

  /** All recordings, ordered by camera, including those that are turned off, because their footage still expires. */
  async list(): Promise<Recording[]> {
    const rows = await this.#db.selectFrom('recordings').selectAll().orderBy('camera_id').execute()
    return rows.map(toRecording)
  }

  /** What retention needs to know about all recordings, including those that are turned off. */
  async listPolicies(): Promise<RecordingPolicy[]> {
    const rows = await this.#db
      .selectFrom('recordings')
      .innerJoin('cameras', 'cameras.id', 'recordings.camera_id')
      .select(['camera_id', 'owner_id', 'retention', 'max_bytes', 'local_retention', 'deactivated_at_ms'])
      .orderBy('camera_id')
      .execute()
    return rows.map((row) => ({
      cameraId: row.camera_id,
      ownerId: row.owner_id,
      retention: row.retention,
      maxBytes: row.max_bytes,
      localRetention: row.local_retention,
      deactivatedAtMs: row.deactivated_at_ms,
    }))
  }

  /** Writes and publishes nothing if the status is unchanged. */
  async setStatus(cameraId: number, status: RecordingStatus, detail: string | null = null): Promise<void> {
    await this.#report((db) =>
      db
        .updateTable('recordings')
        .set({ status, status_detail: detail })
        .where('camera_id', '=', cameraId)
        .where((of) => of.or([of('status', '!=', status), of('status_detail', 'is distinct from', detail)]))
        .returning('camera_id')
        .execute(),
    )
  }

  /** When the server starts, none of these cameras, or of all, is being recorded yet. */
  async resetStatus(cameraIds?: readonly number[]): Promise<void> {
    if (cameraIds?.length === 0) return
    await this.#report((db) =>
      db
        .updateTable('recordings')
        .set({ status: 'READY', status_detail: null })
        .where('status', '!=', 'READY')
        .$if(cameraIds !== undefined, (query) => query.where('camera_id', 'in', cameraIds!))
        .returning('camera_id')
        .execute(),
    )
  }

  async #report(update: (db: Kysely<Tables>) => Promise<readonly unknown[]>): Promise<void> {
    const changed = await writeRelaxed(this.#db, update)
    if (changed.length > 0) this.#feed.publish('status')
  }
}

/** See `Recordings.enable`. Notifies nobody. */
export function enableRecording(
  db: Kysely<Tables>,
  cameraId: number,
  policy: PolicyChange,
  nowMs: number,
): Promise<Row<'recordings'>> {
  const values = toColumns(policy)
  return db
    .insertInto('recordings')
    .values({
      camera_id: cameraId,
      ...values,
      status: 'READY',
      status_detail: null,
      enabled_at_ms: nowMs,
      deactivated_at_ms: null,
      records_until_ms: null,
    })
    .onConflict((conflict) =>
      conflict.column('camera_id').doUpdateSet((of) => ({
        ...values,
        enabled_at_ms: of
          .case()
          .when('recordings.deactivated_at_ms', 'is', null)
          .then(of.ref('recordings.enabled_at_ms'))
          .else(nowMs)
          .end(),
        deactivated_at_ms: null,
        records_until_ms: null,
      })),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
}

function toColumns({ retention, maxBytes, localRetention = null }: PolicyChange) {
  return { retention, max_bytes: maxBytes, local_retention: localRetention }
}

function toRecording(row: Row<'recordings'>): Recording {
  return {
    cameraId: row.camera_id,
    activeServiceId: row.active_service_id,
    retention: row.retention,
    maxBytes: row.max_bytes,
    localRetention: row.local_retention,
    status: row.status,
    statusDetail: row.status_detail,
    enabledAtMs: row.enabled_at_ms,
    deactivatedAtMs: row.deactivated_at_ms,
    recordsUntilMs: row.records_until_ms,
  }
}

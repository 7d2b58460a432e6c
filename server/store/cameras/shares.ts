// Shares: the guest rows of an account, from the guest's side.

import type { Kysely } from 'kysely'
import type { Clock } from '../../base/clock.ts'
import type { Share } from '../../model/camera-access.ts'
import type { User } from '../accounts/users.ts'
import type { ChangePublisher } from '../engine/change-feed.ts'
import { writeRelaxed } from '../engine/durability.ts'
import type { Tables } from '../schema.ts'
import type { Camera } from './cameras.ts'

/** What a guest may see of a camera. Its URL, password and hash are not even read. */
export type SharedCamera = {
  readonly camera: Pick<Camera, 'id' | 'name' | 'type' | 'status' | 'hasAudio' | 'snapshotAtMs'>
  readonly owner: Pick<User, 'email' | 'firstName' | 'lastName'>
  readonly share: Share
}

export class Shares {
  readonly #db: Kysely<Tables>
  readonly #feed: ChangePublisher
  readonly #clock: Clock

  constructor(db: Kysely<Tables>, feed: ChangePublisher, clock: Clock) {
    this.#db = db
    this.#feed = feed
    this.#clock = clock
  }

  /** The user's guest rows for the camera, one for each address that was invited. */
  async list(userId: number, cameraId: number): Promise<Share[]> {
    const rows = await this.#db
      .selectFrom('guests')
      .select(['can_view_rec', 'share_notifications', 'opened_at_ms'])
      .where('user_id', '=', userId)
      .where('camera_id', '=', cameraId)
      .execute()
    return rows.map((row) => ({
      canViewRecordings: row.can_view_rec === 1,
      sharesNotifications: row.share_notifications === 1,
      isOpened: row.opened_at_ms !== null,
    }))
  }

  /**
   * A page of the cameras that others share with the user, ordered by id: those for which `decideCameraRight` returns
   * 'guest', if the user is not disabled.
   */
  async listCameras(userId: number, { limit, offset }: { limit: number; offset: number }): Promise<SharedCamera[]> {
    const rows = await this.#visible(userId)
      .select([
        'cameras.id',
        'cameras.name',
        'cameras.type',
        'cameras.status',
        'cameras.has_audio',
        'cameras.snapshot_at_ms',
        'owners.email',
        'owners.first_name',
        'owners.last_name',
      ])
      .select(({ fn }) => [
        fn.max('guests.can_view_rec').as('can_view_rec'),
        fn.max('guests.share_notifications').as('share_notifications'),
        fn.count<number>('guests.opened_at_ms').as('opened'),
        fn.countAll<number>().as('rows'),
      ])
      .groupBy(['cameras.id', 'owners.id'])
      .orderBy('cameras.id')
      .limit(limit)
      .offset(offset)
      .execute()
    return rows.map((row) => ({
      camera: {
        id: row.id,
        name: row.name,
        type: row.type,
        status: row.status,
        hasAudio: row.has_audio === 1,
        snapshotAtMs: row.snapshot_at_ms,
      },
      owner: { email: row.email, firstName: row.first_name, lastName: row.last_name },
      share: {
        canViewRecordings: row.can_view_rec === 1,
        sharesNotifications: row.share_notifications === 1,
        isOpened: Number(row.opened) === Number(row.rows),
      },
    }))
  }

  /** The number of rows that `listCameras` returns without a limit. */
  async countCameras(userId: number): Promise<number> {
    const { count } = await this.#visible(userId)
      .select(({ fn }) => fn.count<number>('cameras.id').distinct().as('count'))
      .executeTakeFirstOrThrow()
    return Number(count)
  }

  /** Notes that the user has watched the camera. Only the first time counts. */
  async setOpened(userId: number, cameraId: number): Promise<void> {
    const changed = await writeRelaxed(this.#db, (db) =>
      db
        .updateTable('guests')
        .set({ opened_at_ms: this.#clock.nowMs() })
        .where('user_id', '=', userId)
        .where('camera_id', '=', cameraId)
        .where('opened_at_ms', 'is', null)
        .returning('id')
        .execute(),
    )
    if (changed.length > 0) this.#feed.publish('status')
  }

  #visible(userId: number) {
    return this.#db
      .selectFrom('guests')
      .innerJoin('cameras', 'cameras.id', 'guests.camera_id')
      .innerJoin('users as owners', 'owners.id', 'cameras.owner_id')
      .where('guests.user_id', '=', userId)
      .where('owners.id', '<>', userId)
      .where('owners.disabled_at_ms', 'is', null)
  }
}

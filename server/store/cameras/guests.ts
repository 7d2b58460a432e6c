// Guests of cameras, as the cameras' owners see them. What is shared with a user is in shares.ts.

import type { Kysely } from 'kysely'
import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'
import { emailKey } from '../../model/email.ts'
import { lockAddress } from '../accounts/address-lock.ts'
import type { ChangePublisher } from '../engine/change-feed.ts'
import { isForeignKeyViolation, isUniqueViolation } from '../engine/constraint.ts'
import { inTransaction } from '../engine/transaction.ts'
import type { Row, Tables } from '../schema.ts'
import { findAccountOf } from './guest-address.ts'

export type Guest = {
  readonly id: number
  readonly cameraId: number
  /** As entered. Unique per camera, by the same rule as accounts. */
  readonly email: string
  /** The guest's account; null if there is none with the address. Must not be revealed to the owner. */
  readonly userId: number | null
  /** The account's name; null until the guest has looked at the camera. */
  readonly firstName: string | null
  readonly lastName: string | null
  readonly canViewRecordings: boolean
  readonly sharesNotifications: boolean
  readonly createdAtMs: number
  readonly openedAtMs: number | null
}

export type Permissions = Pick<Guest, 'canViewRecordings' | 'sharesNotifications'>
export type NewGuest = Pick<Guest, 'cameraId' | 'email'> & Permissions

export class Guests {
  readonly #db: Kysely<Tables>
  readonly #feed: ChangePublisher
  readonly #clock: Clock

  constructor(db: Kysely<Tables>, feed: ChangePublisher, clock: Clock) {
    this.#db = db
    this.#feed = feed
    this.#clock = clock
  }

  /**
   * Throws 'conflict' if the address is already a guest of the camera and 'not_found' if there is no such camera.
   */
  async insert({ cameraId, email, canViewRecordings, sharesNotifications }: NewGuest): Promise<Guest> {
    const key = emailKey(email)
    try {
      const guest = await inTransaction(this.#db, async (transaction) => {
        await lockAddress(transaction, key)
        const { id } = await transaction
          .insertInto('guests')
          .values({
            camera_id: cameraId,
            email,
            email_key: key,
            user_id: await findAccountOf(transaction, key, cameraId),
            can_view_rec: canViewRecordings ? 1 : 0,
            share_notifications: sharesNotifications ? 1 : 0,
            created_at_ms: this.#clock.nowMs(),
            opened_at_ms: null,
          })
          .returning('id')
          .executeTakeFirstOrThrow()
        return select(transaction).where('guests.id', '=', id).executeTakeFirstOrThrow()
      })
      this.#feed.publish('records')
      return toGuest(guest)
    } catch (cause) {
      if (isUniqueViolation(cause))
        throw new AppError('conflict', `${email} is already a guest of this camera`, { cause })
      if (isForeignKeyViolation(cause)) throw new AppError('not_found', `there is no camera ${cameraId}`, { cause })
      throw cause
    }
  }

  async find(cameraId: number, id: number): Promise<Guest | undefined> {
    const row = await select(this.#db)
      .where('guests.id', '=', id)
      .where('guests.camera_id', '=', cameraId)
      .executeTakeFirst()
    return row && toGuest(row)
  }

  async findByEmail(cameraId: number, email: string): Promise<Guest | undefined> {
    const row = await select(this.#db)
      .where('guests.camera_id', '=', cameraId)
      .where('guests.email_key', '=', emailKey(email))
      .executeTakeFirst()
    return row && toGuest(row)
  }

  /** Ordered by id. */
  async listByCamera(cameraId: number, { limit, offset }: { limit: number; offset: number }): Promise<Guest[]> {
    const rows = await select(this.#db)
      .where('guests.camera_id', '=', cameraId)
      .orderBy('guests.id')
      .limit(limit)
      .offset(offset)
      .execute()
    return rows.map(toGuest)
  }

  async countByCamera(cameraId: number): Promise<number> {
    const { count } = await this.#db
      .selectFrom('guests')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('camera_id', '=', cameraId)
      .executeTakeFirstOrThrow()
    return Number(count)
  }

  /** True if the address is a guest of any camera of the owner, accepted or not. */
  async isGuestOf(ownerId: number, email: string): Promise<boolean> {
    const row = await this.#db
      .selectFrom('guests')
      .innerJoin('cameras', 'cameras.id', 'guests.camera_id')
      .select('guests.id')
      .where('guests.email_key', '=', emailKey(email))
      .where('cameras.owner_id', '=', ownerId)
      .limit(1)
      .executeTakeFirst()
    return row !== undefined
  }

  /** Number of cameras of an owner that have guests. */
  async countSharedByOwner(ownerId: number): Promise<number> {
    const { count } = await this.#db
      .selectFrom('guests')
      .innerJoin('cameras', 'cameras.id', 'guests.camera_id')
      .select(({ fn }) => fn.count<number>('guests.camera_id').distinct().as('count'))
      .where('cameras.owner_id', '=', ownerId)
      .executeTakeFirstOrThrow()
    return Number(count)
  }

  /** Changes the given fields. Throws 'not_found'. */
  async update(cameraId: number, id: number, change: Partial<Permissions>): Promise<Guest> {
    const { canViewRecordings, sharesNotifications } = change
    const values = {
      ...(canViewRecordings !== undefined && { can_view_rec: canViewRecordings ? 1 : 0 }),
      ...(sharesNotifications !== undefined && { share_notifications: sharesNotifications ? 1 : 0 }),
    }
    if (Object.keys(values).length > 0) {
      const changed = await this.#db
        .updateTable('guests')
        .set(values)
        .where('id', '=', id)
        .where('camera_id', '=', cameraId)
        .returning('id')
        .executeTakeFirst()
      if (changed) this.#feed.publish('records')
    }
    const guest = await this.find(cameraId, id)
    if (!guest) throw new AppError('not_found', `camera ${cameraId} has no guest ${id}`)
    return guest
  }

  /** The camera's guests that belong to this user, one for each address they were invited by. */
  async listOfUser(cameraId: number, userId: number): Promise<Guest[]> {
    const rows = await select(this.#db)
      .where('guests.camera_id', '=', cameraId)
      .where('guests.user_id', '=', userId)
      .orderBy('guests.id')
      .execute()
    return rows.map(toGuest)
  }

  /** Also deletes the pending invitation to this camera. Returns false if there was none. */
  async remove(cameraId: number, id: number): Promise<boolean> {
    const removed = await inTransaction(this.#db, async (transaction) => {
      const guest = await transaction
        .deleteFrom('guests')
        .where('id', '=', id)
        .where('camera_id', '=', cameraId)
        .returning('email_key')
        .executeTakeFirst()
      if (!guest) return false
      await transaction
        .deleteFrom('links')
        .where('kind', '=', 'invitation')
        .where('camera_id', '=', cameraId)
        .where('email_key', '=', guest.email_key)
        .execute()
      return true
    })
    if (removed) this.#feed.publish('records')
    return removed
  }
}

function select(db: Kysely<Tables>) {
  return db
    .selectFrom('guests')
    .leftJoin('users', 'users.id', 'guests.user_id')
    .selectAll('guests')
    .select(['users.first_name', 'users.last_name'])
}

type GuestRow = Row<'guests'> & { first_name: string | null; last_name: string | null }

function toGuest(row: GuestRow): Guest {
  const isOpened = row.opened_at_ms !== null
  return {
    id: row.id,
    cameraId: row.camera_id,
    email: row.email,
    userId: row.user_id,
    firstName: isOpened ? row.first_name : null,
    lastName: isOpened ? row.last_name : null,
    canViewRecordings: row.can_view_rec === 1,
    sharesNotifications: row.share_notifications === 1,
    createdAtMs: row.created_at_ms,
    openedAtMs: row.opened_at_ms,
  }
}

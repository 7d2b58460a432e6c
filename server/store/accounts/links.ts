// One-time links, stored so that the rows alone do not allow anybody to use them. Using a link deletes its row in the
// transaction that does what the link is for; see account-changes.ts.

import type { Kysely } from 'kysely'
import type { Clock } from '../../base/clock.ts'
import { emailKey } from '../../model/email.ts'
import { holdGuest } from '../cameras/guest-address.ts'
import { inTransaction } from '../engine/transaction.ts'
import type { Row, Tables } from '../schema.ts'
import { holdProven } from './proven-user.ts'

/** For the first owner, a new account, a new password, or the confirmation of a new email address. */
export type LinkKind = 'setup' | 'invitation' | 'reset' | 'email'

export type Link = {
  readonly kind: LinkKind
  /** The account concerned; for 'reset' and 'email'. */
  readonly userId: number | null
  /** The email address that the link was sent to; for 'invitation' and 'email'. */
  readonly email: string | null
  /** Null for users who signed up themselves. */
  readonly inviterId: number | null
  /** The camera that the invited person is shown. */
  readonly cameraId: number | null
  readonly createdAtMs: number
  readonly expiresAtMs: number
}

export type NewLink = Pick<Link, 'kind' | 'expiresAtMs'> &
  Partial<Pick<Link, 'userId' | 'email' | 'inviterId' | 'cameraId'>> & {
    /** SHA-256 of the secret in the link, 32 bytes. */
    readonly hash: Uint8Array
    /** The guest who is invited. The link ends with the guest. */
    readonly guestId?: number
    /** The credentials version of the account of `userId` when the recipient of the link was looked up. */
    readonly credentialsVersion?: number
  }

export class Links {
  readonly #db: Kysely<Tables>
  readonly #clock: Clock

  constructor(db: Kysely<Tables>, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /**
   * Replaces links of the same kind for the same person, inviter and camera; only password links may coexist. Throws
   * 'unauthenticated' if the account was changed since `credentialsVersion`, and 'not_found' if the guest no longer
   * exists.
   */
  async insert(link: NewLink): Promise<void> {
    const { hash, kind, userId = null, email = null, inviterId = null, cameraId = null, expiresAtMs } = link
    const key = email === null ? null : emailKey(email)
    await inTransaction(this.#db, async (transaction) => {
      if (link.credentialsVersion !== undefined) {
        await holdProven(transaction, { id: userId!, credentialsVersion: link.credentialsVersion })
      }
      if (link.guestId !== undefined) await holdGuest(transaction, link.guestId)
      if (kind !== 'reset') {
        let earlier = transaction
          .deleteFrom('links')
          .where('kind', '=', kind)
          .where('user_id', 'is not distinct from', userId)
          .where('inviter_id', 'is not distinct from', inviterId)
          .where('camera_id', 'is not distinct from', cameraId)
        // A request for another new address replaces the previous one.
        if (kind !== 'email') earlier = earlier.where('email_key', 'is not distinct from', key)
        await earlier.execute()
      }
      await transaction
        .insertInto('links')
        .values({
          hash,
          kind,
          user_id: userId,
          email,
          email_key: key,
          inviter_id: inviterId,
          camera_id: cameraId,
          created_at_ms: this.#clock.nowMs(),
          expires_at_ms: expiresAtMs,
        })
        .execute()
    })
  }

  /** Finds a link that is still valid. */
  async find(kind: LinkKind, hash: Uint8Array): Promise<Link | undefined> {
    const row = await this.#db
      .selectFrom('links')
      .selectAll()
      .where('hash', '=', hash)
      .where('kind', '=', kind)
      .where('expires_at_ms', '>', this.#clock.nowMs())
      .executeTakeFirst()
    return row && toLink(row)
  }

  /** `nowMs`: default is the clock's time. */
  async removeExpired(nowMs = this.#clock.nowMs()): Promise<void> {
    await this.#db.deleteFrom('links').where('expires_at_ms', '<=', nowMs).execute()
  }
}

export function toLink(row: Row<'links'>): Link {
  return {
    kind: row.kind,
    userId: row.user_id,
    email: row.email,
    inviterId: row.inviter_id,
    cameraId: row.camera_id,
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms,
  }
}

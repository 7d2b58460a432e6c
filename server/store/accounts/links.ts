// One-time links, stored in a form that does not suffice to use them. Using a link deletes its row in the transaction
// that does what it is for; see account-changes.ts.

import type { Kysely } from 'kysely'
import type { Clock } from '../../base/clock.ts'
import { emailKey } from '../../model/email.ts'
import { holdGuest } from '../cameras/guest-address.ts'
import { inTransaction } from '../engine/transaction.ts'
import type { Row, Tables } from '../schema.ts'
import { holdProven } from './proven-user.ts'

/** For the first owner, a new account, a new password, or the proof of a new address. */
export type LinkKind = 'setup' | 'invitation' | 'reset' | 'email'

export type Link = {
  readonly kind: LinkKind
  /** The account concerned: 'reset', 'email'. */
  readonly userId: number | null
  /** The address that it was sent to: 'invitation', 'email'. */
  readonly email: string | null
  /** Null for people who signed up themselves. */
  readonly inviterId: number | null
  /** What the invited person will be shown. */
  readonly cameraId: number | null
  readonly createdAtMs: number
  readonly expiresAtMs: number
}

export type NewLink = Pick<Link, 'kind' | 'expiresAtMs'> &
  Partial<Pick<Link, 'userId' | 'email' | 'inviterId' | 'cameraId'>> & {
    /** SHA-256 of the secret in the link, 32 bytes. */
    readonly hash: Uint8Array
    /** Whom it invites: it ends with the guest. */
    readonly guestId?: number
    /** Of the account of `userId`, when it was found out where the link is to go. */
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
   * In place of those of the same kind for the same person, inviter and camera; only for passwords may there be
   * several. Throws 'unauthenticated' when the account was changed since `credentialsVersion`, and 'not_found' when the
   * guest is gone.
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
        // A new address wished for replaces the one wished for before.
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

  /** One that may still be used. */
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

  async removeExpired(): Promise<void> {
    await this.#db.deleteFrom('links').where('expires_at_ms', '<=', this.#clock.nowMs()).execute()
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

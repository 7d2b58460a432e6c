// How many mails were sent, to whom and on whose behalf, so that nobody can have this server flood a mailbox.

import type { Kysely } from 'kysely'
import type { Clock } from '../../base/clock.ts'
import { emailKey } from '../../model/email.ts'
import type { Tables } from '../schema.ts'

const dayMs = 86_400_000

export type MailCount = {
  readonly purpose: string
  readonly email: string
  /** The user on whose behalf it is sent. */
  readonly senderId?: number | undefined
}

export type MailLimits = {
  readonly perAddressAndDay: number
  readonly perSenderAndHour?: number
  /** Between two to the same address. */
  readonly minGapMs?: number
  /** So long after the last one to the address the next may go, however many there were in the day. */
  readonly alwaysAfterMs?: number
}

export class MailCounts {
  readonly #db: Kysely<Tables>
  readonly #clock: Clock

  constructor(db: Kysely<Tables>, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /**
   * False when one more is too many; it is not counted then. Counted before the counting, so that of several at the
   * same time, in whatever process, too few may pass but never too many. Of several within the gap the first passes.
   */
  async take({ purpose, email, senderId }: MailCount, limits: MailLimits): Promise<boolean> {
    const nowMs = this.#clock.nowMs()
    const key = emailKey(email)
    const { id } = await this.#db
      .insertInto('mails')
      .values({ purpose, email_key: key, sender_id: senderId ?? null, at_ms: nowMs })
      .returning('id')
      .executeTakeFirstOrThrow()
    const select = this.#db
      .selectFrom('mails')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('purpose', '=', purpose)
    const toAddress = await select
      .where('email_key', '=', key)
      .where('at_ms', '>', nowMs - dayMs)
      .executeTakeFirstOrThrow()
    const isFirstIn = async (ms: number): Promise<boolean> => {
      const before = await select
        .where('email_key', '=', key)
        .where('at_ms', '>', nowMs - ms)
        .where('id', '<', id)
        .executeTakeFirstOrThrow()
      return Number(before.count) === 0
    }
    const { perAddressAndDay, minGapMs, alwaysAfterMs } = limits
    let isAllowed =
      Number(toAddress.count) <= perAddressAndDay || (alwaysAfterMs !== undefined && (await isFirstIn(alwaysAfterMs)))
    if (isAllowed && minGapMs !== undefined) isAllowed = await isFirstIn(minGapMs)
    if (isAllowed && senderId !== undefined && limits.perSenderAndHour !== undefined) {
      const bySender = await select
        .where('sender_id', '=', senderId)
        .where('at_ms', '>', nowMs - 3_600_000)
        .executeTakeFirstOrThrow()
      isAllowed = Number(bySender.count) <= limits.perSenderAndHour
    }
    if (!isAllowed) await this.#db.deleteFrom('mails').where('id', '=', id).execute()
    return isAllowed
  }

  async removeOld(): Promise<void> {
    await this.#db
      .deleteFrom('mails')
      .where('at_ms', '<=', this.#clock.nowMs() - dayMs)
      .execute()
  }
}

// Counts the mails that were sent, by recipient and sender, so that nobody can use this server to flood a mailbox.

import type { Kysely } from 'kysely'
import type { Clock } from '../../base/clock.ts'
import { emailKey } from '../../model/email.ts'
import type { Tables } from '../schema.ts'

const dayMs = 86_400_000

export type MailCount = {
  readonly purpose: string
  readonly email: string
  /** The user on whose behalf the mail is sent. */
  readonly senderId?: number | undefined
}

export type MailLimits = {
  readonly perAddressAndDay: number
  readonly perSenderAndHour?: number
  /** The minimum time between two mails to the same address. */
  readonly minGapMs?: number
  /** After this time without a mail, the address gets another one even if the daily limit is reached. */
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
   * Returns false, without counting the mail, if it would exceed a limit. The mail is inserted before the others are
   * counted, so concurrent calls may allow too few mails but never too many. Within the minimum time, only the first
   * passes.
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

// Emails that were not sent yet. Only mail/kept-mails.ts can read them.

import type { Kysely } from 'kysely'
import { writeRelaxed } from '../engine/durability.ts'
import type { Tables } from '../schema.ts'

/** `sinceMs`: when the email was first to be sent, Unix milliseconds. */
export type WaitingMail = { readonly id: number; readonly sealed: Uint8Array; readonly sinceMs: number }

export class WaitingMails {
  readonly #db: Kysely<Tables>

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  /** Returns the id. */
  async insert(sealed: Uint8Array, sinceMs: number): Promise<number> {
    const { id } = await writeRelaxed(this.#db, (db) =>
      db
        .insertInto('waiting_mails')
        .values({ sealed, since_ms: Math.round(sinceMs) })
        .returning('id')
        .executeTakeFirstOrThrow(),
    )
    return id
  }

  /** The oldest first. */
  async list(): Promise<WaitingMail[]> {
    const rows = await this.#db.selectFrom('waiting_mails').selectAll().orderBy('id').execute()
    return rows.map(({ id, sealed, since_ms }) => ({ id, sealed, sinceMs: since_ms }))
  }

  async remove(id: number): Promise<void> {
    await writeRelaxed(this.#db, (db) => db.deleteFrom('waiting_mails').where('id', '=', id).execute())
  }
}

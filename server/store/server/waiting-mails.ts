// Emails that were not sent yet. Only mail/kept-mails.ts can read them.

import type { Kysely } from 'kysely'
import { writeRelaxed } from '../engine/durability.ts'
import type { Tables } from '../schema.ts'
import { nowMs } from './nodes.ts'

/** `sinceMs`: when the email was first to be sent, Unix milliseconds. */
export type WaitingMail = { readonly id: number; readonly sealed: Uint8Array; readonly sinceMs: number }

export class WaitingMails {
  readonly #db: Kysely<Tables>

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  /** Returns the id. `sender`: the incarnation of the server that will send it. */
  async insert(sealed: Uint8Array, sinceMs: number, sender?: string): Promise<number> {
    const { id } = await writeRelaxed(this.#db, (db) =>
      db
        .insertInto('waiting_mails')
        .values({ sealed, since_ms: Math.round(sinceMs), taken_by: sender ?? null })
        .returning('id')
        .executeTakeFirstOrThrow(),
    )
    return id
  }

  /** Those that are to be sent by this server, the oldest first: what no living server sends is its own from now on. */
  async list(sender?: string): Promise<WaitingMail[]> {
    if (sender !== undefined)
      await this.#db
        .updateTable('waiting_mails')
        .set({ taken_by: sender })
        .where((of) =>
          of.or([
            of('taken_by', 'is', null),
            of('taken_by', 'not in', of.selectFrom('nodes').select('incarnation').where('expires_ms', '>', nowMs)),
          ]),
        )
        .execute()
    const rows = await this.#db
      .selectFrom('waiting_mails')
      .selectAll()
      .$if(sender !== undefined, (query) => query.where('taken_by', '=', sender!))
      .orderBy('id')
      .execute()
    return rows.map(({ id, sealed, since_ms }) => ({ id, sealed, sinceMs: since_ms }))
  }

  async remove(id: number): Promise<void> {
    await writeRelaxed(this.#db, (db) => db.deleteFrom('waiting_mails').where('id', '=', id).execute())
  }
}

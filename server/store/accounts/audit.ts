// The audit log: what happened to accounts and credentials. Rows are added and deleted when old, but never changed.
// They outlive the accounts they refer to.

import type { Kysely } from 'kysely'
import { writeRelaxed } from '../engine/durability.ts'
import type { Row, Tables } from '../schema.ts'

export type AuditDetail = Readonly<Record<string, string | number | boolean>>

export type AuditRecord = {
  readonly id: number
  readonly atMs: number
  /** For instance `login.failed`. */
  readonly event: string
  /** The account concerned. */
  readonly userId: number | null
  /** What else is concerned: an address, or the name of an application. */
  readonly subject: string | null
  readonly ip: string | null
  readonly userAgent: string | null
  readonly detail: AuditDetail
}

export type NewAuditRecord = Omit<AuditRecord, 'id'>

export class AuditRows {
  readonly #db: Kysely<Tables>

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  /**
   * Atomic, in this order. Survives a crash of the process; a power failure may lose the
   * newest.
   */
  async insert(records: readonly NewAuditRecord[]): Promise<void> {
    if (records.length === 0) return
    await writeRelaxed(this.#db, (db) =>
      db.transaction().execute(async (transaction) => {
        for (const record of records) {
          await transaction
            .insertInto('audit')
            .values({
              at_ms: record.atMs,
              event: record.event,
              user_id: record.userId,
              subject: record.subject,
              ip: record.ip,
              user_agent: record.userAgent,
              detail: JSON.stringify(record.detail),
            })
            .execute()
        }
      }),
    )
  }

  /** Newest first, for one user or all. */
  async list(
    userId: number | undefined,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<AuditRecord[]> {
    let query = this.#db.selectFrom('audit').selectAll().orderBy('id', 'desc').limit(limit).offset(offset)
    if (userId !== undefined) query = query.where('user_id', '=', userId)
    return (await query.execute()).map(toRecord)
  }

  async count(userId?: number): Promise<number> {
    let query = this.#db.selectFrom('audit').select(({ fn }) => fn.countAll<number>().as('count'))
    if (userId !== undefined) query = query.where('user_id', '=', userId)
    return Number((await query.executeTakeFirstOrThrow()).count)
  }

  /** Deletes rows written before `beforeMs`, and the oldest beyond `maxRows`. */
  async removeOld(beforeMs: number, maxRows: number): Promise<void> {
    await this.#db.deleteFrom('audit').where('at_ms', '<', beforeMs).execute()
    const newestExcess = await this.#db
      .selectFrom('audit')
      .select('id')
      .orderBy('id', 'desc')
      .offset(maxRows)
      .limit(1)
      .executeTakeFirst()
    if (newestExcess) await this.#db.deleteFrom('audit').where('id', '<=', newestExcess.id).execute()
  }
}

function toRecord(row: Row<'audit'>): AuditRecord {
  return {
    id: row.id,
    atMs: row.at_ms,
    event: row.event,
    userId: row.user_id,
    subject: row.subject,
    ip: row.ip,
    userAgent: row.user_agent,
    detail: JSON.parse(row.detail) as AuditDetail,
  }
}

// The audit log as the rest of the server writes to it: nobody waits for it and nobody fails because of it. What is written at once
// goes to the store together; while the store fails, it is kept, up to a bound, and tried again.

import type { Clock } from '../../base/clock.ts'
import { errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import { repeat } from '../../base/repeat.ts'
import { WriteBehind } from '../../base/write-behind.ts'
import type { AuditDetail, AuditRecord, AuditRows, NewAuditRecord } from '../../store/accounts/audit.ts'
import type { RequestContext } from '../request-context.ts'

const maxQueued = 10_000
const maxBatch = 500
const retryMs = 1000
const retentionIntervalMs = 3_600_000
const maxTextLength = 256

export type AuditEvent = {
  /** What happened: `login.failed`, `grant.created`, `refresh.reused`, … */
  readonly event: string
  /** The account it is about. */
  readonly userId?: number
  /** What else it is about: an address, the name of an application. */
  readonly subject?: string
  readonly context?: RequestContext
  /** No secrets. */
  readonly detail?: AuditDetail
}

export type AuditOptions = {
  readonly rows: AuditRows
  readonly clock: Clock
  /** The time by which events are too old; default: the clock's. */
  readonly deletionMs?: () => number
  readonly log: Logger
  readonly retentionDays?: number
  /** An attack must not fill the disk. */
  readonly maxRows?: number
}

export class Audit {
  readonly #rows: AuditRows
  readonly #clock: Clock
  readonly #deletionMs: () => number
  readonly #log: Logger
  readonly #retentionMs: number
  readonly #maxRows: number
  readonly #queue: WriteBehind<NewAuditRecord>
  #dropped = 0

  constructor({ rows, clock, deletionMs, log, retentionDays = 365, maxRows = 1_000_000 }: AuditOptions) {
    this.#rows = rows
    this.#clock = clock
    this.#deletionMs = deletionMs ?? (() => clock.nowMs())
    this.#log = log
    this.#retentionMs = retentionDays * 86_400_000
    this.#maxRows = maxRows
    this.#queue = new WriteBehind({
      maxWaiting: maxQueued,
      maxBatch,
      write: (batch) => rows.insert(batch),
      onWritten: () => this.#noteDropped(),
      onFailure: (error) =>
        log.error({ reason: errorChain(error), waiting: this.#queue.waiting }, 'the audit log cannot be written'),
    })
  }

  /** Never throws and never waits; the order of calls is the order of rows. */
  write({ event, userId, subject, context, detail }: AuditEvent): void {
    const isQueued = this.#queue.add({
      atMs: this.#clock.nowMs(),
      event,
      userId: userId ?? null,
      subject: cleanText(subject),
      ip: context?.ip ?? null,
      userAgent: cleanText(context?.userAgent),
      detail: detail ?? {},
    })
    if (isQueued) this.#queue.send()
    else this.#dropped++
  }

  /** Resolves when all that was written before is in the store, or cannot be put there at the moment. */
  async flush(): Promise<void> {
    await this.#queue.flush()
  }

  /** Newest first; of one user, or of all. */
  async list(
    userId: number | undefined,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<AuditRecord[]> {
    await this.flush()
    return this.#rows.list(userId, page)
  }

  async count(userId?: number): Promise<number> {
    return this.#rows.count(userId)
  }

  /** Tries again what could not be written, and removes what is old; ends when `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    let nextRetentionMs = this.#clock.monotonicMs()
    const retryAndClean = async () => {
      await this.flush()
      if (this.#clock.monotonicMs() < nextRetentionMs) return
      nextRetentionMs = this.#clock.monotonicMs() + retentionIntervalMs
      await this.#rows.removeOld(this.#deletionMs() - this.#retentionMs, this.#maxRows)
    }
    await repeat(retryAndClean, { clock: this.#clock, signal, intervalMs: retryMs })
    await this.flush()
    const { waiting: events } = this.#queue
    if (events > 0) this.#log.error({ events }, 'events for the audit log are lost')
  }

  #noteDropped(): void {
    const events = this.#dropped
    if (events === 0) return
    this.#dropped = 0
    this.write({ event: 'audit.dropped', detail: { events } })
  }
}

/** Of bounded length and without control characters: it is shown on terminals, and PostgreSQL takes no NUL. */
function cleanText(text: string | undefined): string | null {
  return text === undefined ? null : text.slice(0, maxTextLength).replaceAll(/\p{Cc}/gu, ' ')
}

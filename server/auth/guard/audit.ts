// The audit log. Callers neither wait for it nor fail because of it. Events that are written together are stored
// together. While the store fails, a limited number of events is kept and retried.

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
  /** The account that the event is about. */
  readonly userId?: number
  /** What else the event is about, such as an email address or the name of an application. */
  readonly subject?: string
  readonly context?: RequestContext
  /** Must not contain secrets. */
  readonly detail?: AuditDetail
}

export type AuditOptions = {
  readonly rows: AuditRows
  readonly clock: Clock
  /** The time that decides which events are too old; by default that of the clock. */
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
        log.error({ reason: errorChain(error), waiting: this.#queue.waiting }, 'the audit log could not be written'),
    })
  }

  /** Never throws and never waits. Events are stored in the order of the calls. */
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

  /** Resolves when all events that were written before are stored, or cannot be stored at the moment. */
  async flush(): Promise<void> {
    await this.#queue.flush()
  }

  /** Newest first; of one user or of all. */
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

  /** Retries failed writes and removes old events until `signal` aborts. */
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
    if (events > 0) this.#log.error({ events }, 'audit events were lost')
  }

  #noteDropped(): void {
    const events = this.#dropped
    if (events === 0) return
    this.#dropped = 0
    this.write({ event: 'audit.dropped', detail: { events } })
  }
}

/**
 * Limits the length and removes control characters: the text is shown on terminals, and PostgreSQL does not accept NUL.
 */
function cleanText(text: string | undefined): string | null {
  return text === undefined ? null : text.slice(0, maxTextLength).replaceAll(/\p{Cc}/gu, ' ')
}

// A queue of outgoing emails. Senders do not wait for the mail server, and no email is lost while that is unavailable or a
// setting is wrong: it is tried for as long as it is of use. Until it is sent, it is also in the database (kept-mails.ts),
// from where the next start continues.

import type { Clock } from '../base/clock.ts'
import { settlesWithin } from '../base/deadline.ts'
import { AppError, errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { pause } from '../base/pause.ts'
import { Backoff } from '../base/retry.ts'
import { SerialQueue } from '../base/serial-queue.ts'
import { checkMail, type Mail } from '../model/mail.ts'
import { type KeptMails, maxMailAgeMs } from './kept-mails.ts'
import type { Mailer } from './mailer.ts'

const maxWaiting = 1000
const retry = { minMs: 5000, maxMs: 1_200_000 }
/** How long to wait for the mail server when stopping. */
const farewellMs = 5000

export type MailQueueOptions = {
  readonly mailer: Mailer
  readonly clock: Clock
  readonly log: Logger
  /** Where emails are kept until they are sent. Without it, those that wait are lost at the end. */
  readonly kept?: KeptMails
  /** Called when nothing more will be sent. */
  readonly onClose?: () => void
}

type Delivery = {
  readonly mail: Mail
  /** Undefined if it could not be kept. */
  readonly id: number | undefined
  /** When it was first to be sent, Unix milliseconds. */
  readonly sinceMs: number
  settled: Promise<void>
  /** Sent or given up. */
  isOver: boolean
}

/** Why the latest attempt failed, and since when all have. Unix milliseconds. */
export type MailProblem = { readonly reason: string; readonly sinceMs: number }

export class MailQueue implements Mailer {
  readonly #options: MailQueueOptions
  readonly #stopping = new AbortController()
  readonly #waiting = new Set<Delivery>()
  /** Those that have a row perhaps, and are not among the waiting yet. */
  readonly #coming = new Set<Promise<void>>()
  readonly #resuming = new SerialQueue()
  /** While rows are read: the ids of all that wait, or did since. */
  #known: Set<number | undefined> | undefined
  #isClosed = false
  #problem: MailProblem | undefined

  constructor(options: MailQueueOptions) {
    this.#options = options
  }

  /** Resolves when the email is kept. Throws 'invalid' for invalid emails, and 'unavailable' if too many are waiting. */
  async send(mail: Mail): Promise<void> {
    checkMail(mail)
    if (this.#isClosed || this.#waiting.size + this.#coming.size >= maxWaiting)
      throw new AppError('unavailable', 'too many emails are waiting')
    const sinceMs = this.#options.clock.nowMs()
    const coming = this.#keep(mail, sinceMs).then((id) => this.#begin({ mail, id, sinceMs }))
    this.#coming.add(coming)
    await coming.finally(() => this.#coming.delete(coming))
  }

  /** Sends before all others, once. Throws like a mailer. */
  async sendNow(mail: Mail): Promise<void> {
    await this.#options.mailer.send(mail)
    this.#problem = undefined
  }

  /** Sends the emails that the last run of the server, or another server, left. */
  resume(): Promise<void> {
    return this.#resuming.run(async () => {
      const known = new Set([...this.#waiting].map(({ id }) => id))
      this.#known = known
      const kept = (await this.#options.kept?.list()) ?? []
      await Promise.allSettled(this.#coming)
      this.#known = undefined
      if (!this.#isClosed) for (const each of kept) if (!known.has(each.id)) this.#begin(each)
    })
  }

  stats(): { readonly waiting: number; readonly problem: MailProblem | undefined } {
    return { waiting: this.#waiting.size, problem: this.#problem }
  }

  /** Resolves when all emails that were queued before are sent or given up. */
  async flush(): Promise<void> {
    await Promise.all([...this.#waiting].map(({ settled }) => settled))
  }

  /** Tries to send everything once more, for a few seconds. */
  async close(): Promise<void> {
    const { clock, log, onClose } = this.#options
    this.#isClosed = true
    this.#stopping.abort()
    const deliveries = [...this.#waiting]
    await settlesWithin(this.flush(), farewellMs, clock)
    const left = deliveries.filter((each) => !each.isOver)
    const kept = left.filter(({ id }) => id !== undefined).length
    if (kept > 0) log.warn({ mails: kept }, 'unsent emails will be sent after the next start')
    if (kept < left.length) log.error({ mails: left.length - kept }, 'emails could not be sent')
    onClose?.()
  }

  #begin(values: Omit<Delivery, 'settled' | 'isOver'>): void {
    const delivery: Delivery = { ...values, settled: Promise.resolve(), isOver: false }
    this.#waiting.add(delivery)
    this.#known?.add(delivery.id)
    delivery.settled = this.#deliver(delivery).finally(() => this.#waiting.delete(delivery))
  }

  /** Retries for as long as the email is of use. Never rejects. */
  async #deliver(delivery: Delivery): Promise<void> {
    const { mailer, clock, log } = this.#options
    const backoff = new Backoff(retry)
    const untilMs = delivery.sinceMs + (delivery.mail.usefulMs ?? maxMailAgeMs)
    let logged: string | undefined
    for (let attempt = 1; ; attempt++) {
      try {
        await mailer.send(delivery.mail)
        this.#problem = undefined
        break
      } catch (error) {
        const reason = errorChain(error)
        const fields = { reason, attempt }
        const isLate = clock.nowMs() >= untilMs && !this.#isClosed
        if (isForGood(error) || isLate) {
          log.error(fields, isLate ? 'an email could not be sent in time' : 'an email could not be sent')
          break
        }
        this.#problem = { reason, sinceMs: this.#problem?.sinceMs ?? clock.nowMs() }
        // For days, nothing may change.
        if (reason !== logged) log.warn(fields, 'an email could not be sent yet and will be retried')
        logged = reason
        if (this.#isClosed) return
      }
      await pause(clock, backoff.nextMs(), this.#stopping.signal)
    }
    delivery.isOver = true
    await this.#forget(delivery)
  }

  /** Whoever waits for the email gets it also if it cannot be kept, unless the server ends before. */
  async #keep(mail: Mail, sinceMs: number): Promise<number | undefined> {
    const { kept, log } = this.#options
    try {
      return await kept?.keep(mail, sinceMs)
    } catch (error) {
      log.warn({ reason: errorChain(error) }, 'an email that waits could not be stored')
      return undefined
    }
  }

  async #forget({ id }: Delivery): Promise<void> {
    const { kept, log } = this.#options
    if (id === undefined) return
    await kept?.remove(id).catch((error: unknown) => {
      log.warn({ reason: errorChain(error) }, 'a sent email could not be removed and will be sent again')
    })
  }
}

function isForGood(error: unknown): boolean {
  return error instanceof AppError && error.kind === 'invalid'
}

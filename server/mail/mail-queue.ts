// A queue of outgoing emails. Senders do not wait for the mail server, and no email is lost while that is unavailable or a
// setting is wrong: it is tried for as long as it is of use. The queue is in memory; unsent emails are saved when the
// server stops (mail-spool.ts). If the process is killed, unsent emails are lost and users have to request them again.

import type { Clock } from '../base/clock.ts'
import { settlesWithin } from '../base/deadline.ts'
import { AppError, errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { pause } from '../base/pause.ts'
import { Backoff } from '../base/retry.ts'
import { checkMail, type Mail } from '../model/mail.ts'
import { type MailSpool, maxMailAgeMs } from './mail-spool.ts'
import type { Mailer } from './mailer.ts'

const maxWaiting = 1000
const retry = { minMs: 5000, maxMs: 1_200_000 }
/** How long to wait for the mail server when stopping. */
const farewellMs = 5000

export type MailQueueOptions = {
  readonly mailer: Mailer
  readonly clock: Clock
  readonly log: Logger
  /** Where unsent emails are saved when the server stops. Without it, they are lost. */
  readonly spool?: MailSpool
  /** Called when nothing more will be sent. */
  readonly onClose?: () => void
}

/** `file` is the name in the spool if the email was saved there. */
type Delivery = {
  readonly mail: Mail
  readonly file: string | undefined
  /** When it was first to be sent, Unix milliseconds. */
  readonly sinceMs: number
  settled: Promise<void>
}

/** Why the latest attempt failed, and since when all have. Unix milliseconds. */
export type MailProblem = { readonly reason: string; readonly sinceMs: number }

export class MailQueue implements Mailer {
  readonly #options: MailQueueOptions
  readonly #stopping = new AbortController()
  readonly #waiting = new Set<Delivery>()
  /** Emails whose last attempt failed. */
  #left: Delivery[] = []
  #isClosed = false
  #problem: MailProblem | undefined

  constructor(options: MailQueueOptions) {
    this.#options = options
  }

  /** Resolves at once. Throws 'invalid' for invalid emails, and 'unavailable' if too many are waiting. */
  async send(mail: Mail): Promise<void> {
    checkMail(mail)
    if (this.#isClosed || this.#waiting.size >= maxWaiting)
      throw new AppError('unavailable', 'too many emails are waiting')
    this.#begin({ mail, file: undefined, sinceMs: this.#options.clock.nowMs() })
  }

  /** Sends before all others, once. Throws like a mailer. */
  async sendNow(mail: Mail): Promise<void> {
    await this.#options.mailer.send(mail)
    this.#problem = undefined
  }

  /** Sends the emails that were saved when the server last stopped. */
  async resume(): Promise<void> {
    for (const { name, mail, sinceMs } of (await this.#options.spool?.list()) ?? [])
      this.#begin({ mail, file: name, sinceMs })
  }

  stats(): { readonly waiting: number; readonly problem: MailProblem | undefined } {
    return { waiting: this.#waiting.size, problem: this.#problem }
  }

  /** Resolves when all emails that were queued before are sent or given up. */
  async flush(): Promise<void> {
    await Promise.all([...this.#waiting].map(({ settled }) => settled))
  }

  /** Tries to send everything once more, for a few seconds, and saves the rest. */
  async close(): Promise<void> {
    const { clock, onClose } = this.#options
    this.#isClosed = true
    this.#stopping.abort()
    await settlesWithin(this.flush(), farewellMs, clock)
    await this.#keep([...this.#left, ...this.#waiting])
    onClose?.()
  }

  #begin(values: Omit<Delivery, 'settled'>): void {
    const delivery: Delivery = { ...values, settled: Promise.resolve() }
    this.#waiting.add(delivery)
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
        if (this.#isClosed) {
          this.#left.push(delivery)
          return
        }
      }
      await pause(clock, backoff.nextMs(), this.#stopping.signal)
    }
    await this.#forget(delivery)
  }

  async #forget({ file }: Delivery): Promise<void> {
    const { spool, log } = this.#options
    if (file === undefined) return
    await spool?.remove(file).catch((error: unknown) => {
      log.warn({ reason: errorChain(error) }, 'a sent email could not be removed from the spool and will be sent again')
    })
  }

  async #keep(deliveries: readonly Delivery[]): Promise<void> {
    const { spool, log } = this.#options
    this.#left = []
    let kept = 0
    for (const { mail, file, sinceMs } of deliveries) {
      try {
        if (!spool) throw new AppError('unavailable', 'the server is stopping')
        if (file === undefined) await spool.keep(mail, sinceMs)
        kept++
      } catch (error) {
        log.error({ reason: errorChain(error) }, 'an email could not be sent')
      }
    }
    if (kept > 0) log.warn({ mails: kept }, 'unsent emails were saved and will be sent after the next start')
  }
}

function isForGood(error: unknown): boolean {
  return error instanceof AppError && error.kind === 'invalid'
}

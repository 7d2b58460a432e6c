// A queue of outgoing emails. Senders do not wait for the mail server, and no email is lost if that is unavailable for
// some minutes. The queue is in memory; unsent emails are saved when the server stops (mail-spool.ts). If the process
// is killed, unsent emails are lost and users have to request them again.

import type { Clock } from '../base/clock.ts'
import { settlesWithin } from '../base/deadline.ts'
import { AppError, errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { pause } from '../base/pause.ts'
import { Backoff } from '../base/retry.ts'
import { checkMail, type Mail } from '../model/mail.ts'
import type { MailSpool } from './mail-spool.ts'
import type { Mailer } from './mailer.ts'

const maxWaiting = 1000
const maxAttempts = 8
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
type Delivery = { readonly mail: Mail; readonly file: string | undefined; settled: Promise<void> }

export class MailQueue implements Mailer {
  readonly #options: MailQueueOptions
  readonly #stopping = new AbortController()
  readonly #waiting = new Set<Delivery>()
  /** Emails whose last attempt failed. */
  #left: Delivery[] = []
  #isClosed = false

  constructor(options: MailQueueOptions) {
    this.#options = options
  }

  /** Resolves at once. Throws 'invalid' for invalid emails, and 'unavailable' if too many are waiting. */
  async send(mail: Mail): Promise<void> {
    checkMail(mail)
    if (this.#isClosed || this.#waiting.size >= maxWaiting)
      throw new AppError('unavailable', 'too many emails are waiting')
    this.#begin(mail)
  }

  /** Sends the emails that were saved when the server last stopped. */
  async resume(): Promise<void> {
    for (const { name, mail } of (await this.#options.spool?.list()) ?? []) this.#begin(mail, name)
  }

  stats(): { readonly waiting: number } {
    return { waiting: this.#waiting.size }
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

  #begin(mail: Mail, file?: string): void {
    const delivery: Delivery = { mail, file, settled: Promise.resolve() }
    this.#waiting.add(delivery)
    delivery.settled = this.#deliver(delivery).finally(() => this.#waiting.delete(delivery))
  }

  /** Retries for about an hour. Never rejects. */
  async #deliver(delivery: Delivery): Promise<void> {
    const { mailer, clock, log } = this.#options
    const backoff = new Backoff({ minMs: 5000, maxMs: 1_200_000 })
    for (let attempt = 1; ; attempt++) {
      try {
        await mailer.send(delivery.mail)
        break
      } catch (error) {
        const fields = { reason: errorChain(error), attempt }
        if (isForGood(error) || (attempt === maxAttempts && !this.#isClosed)) {
          log.error(fields, 'an email could not be sent')
          break
        }
        log.warn(fields, 'an email could not be sent yet and will be retried')
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
    for (const { mail, file } of deliveries) {
      try {
        if (!spool) throw new AppError('unavailable', 'the server is stopping')
        if (file === undefined) await spool.keep(mail)
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

// Mails on their way: whoever sends does not wait for the mail server, and one that is down for some minutes loses none. In memory:
// a mail that is lost with the process is asked for again by who misses it.

import type { Clock } from '../base/clock.ts'
import { AppError, errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { Backoff } from '../base/retry.ts'
import { checkMail, type Mail } from '../model/mail.ts'
import type { Mailer } from './mailer.ts'

const maxWaiting = 1000
const maxAttempts = 8

export type MailQueueOptions = {
  readonly mailer: Mailer
  readonly clock: Clock
  readonly log: Logger
  /** Called once no attempt is in progress any more. */
  readonly onClose?: () => void
}

export class MailQueue implements Mailer {
  readonly #mailer: Mailer
  readonly #clock: Clock
  readonly #log: Logger
  readonly #stopping = new AbortController()
  readonly #waiting = new Set<Promise<void>>()
  readonly #onClose: (() => void) | undefined
  #isClosed = false

  constructor({ mailer, clock, log, onClose }: MailQueueOptions) {
    this.#mailer = mailer
    this.#clock = clock
    this.#log = log
    this.#onClose = onClose
  }

  /** Resolves at once. Throws 'invalid' as the mailer would, and 'unavailable' when too many wait. */
  async send(mail: Mail): Promise<void> {
    checkMail(mail)
    if (this.#isClosed || this.#waiting.size >= maxWaiting) throw new AppError('unavailable', 'too many mails wait')
    const delivery = this.#deliver(mail)
    this.#waiting.add(delivery)
    void delivery.then(() => this.#waiting.delete(delivery))
  }

  stats(): { readonly waiting: number } {
    return { waiting: this.#waiting.size }
  }

  /** Resolves when all that was sent before is delivered or given up. */
  async flush(): Promise<void> {
    await Promise.all(this.#waiting)
  }

  /** Attempts in progress may end; what waits for its next is lost. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#stopping.abort()
    await this.flush()
    this.#onClose?.()
  }

  /** Tries for about an hour. */
  async #deliver(mail: Mail): Promise<void> {
    const backoff = new Backoff({ minMs: 5000, maxMs: 1_200_000 })
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#mailer.send(mail)
        return
      } catch (error) {
        const isLast = attempt === maxAttempts || this.#isClosed || isForGood(error)
        const fields = { reason: errorChain(error), attempt }
        if (isLast) this.#log.error(fields, 'a mail was not sent')
        else this.#log.warn(fields, 'a mail was not sent yet')
        if (isLast) return
      }
      await this.#clock.sleep(backoff.nextMs(), this.#stopping.signal).catch(() => {})
      if (this.#isClosed) {
        this.#log.error({ attempt }, 'a mail was not sent: the server is stopping')
        return
      }
    }
  }
}

function isForGood(error: unknown): boolean {
  return error instanceof AppError && error.kind === 'invalid'
}

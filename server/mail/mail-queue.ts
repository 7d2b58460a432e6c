// Mails on their way: whoever sends does not wait for the mail server, and one that is down for some minutes loses none. In memory
// while the server runs; what is left when it stops is kept for the next start (mail-spool.ts). What is lost with a process that is
// killed is asked for again by who misses it.

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
/** How long a stop waits for mail servers. */
const farewellMs = 5000

export type MailQueueOptions = {
  readonly mailer: Mailer
  readonly clock: Clock
  readonly log: Logger
  /** Where mails are kept that a stop leaves unsent; without it they are lost. */
  readonly spool?: MailSpool
  /** Called once nothing is to be sent any more. */
  readonly onClose?: () => void
}

/** `file`: of the spool, for a mail that was kept there. */
type Delivery = { readonly mail: Mail; readonly file: string | undefined; settled: Promise<void> }

export class MailQueue implements Mailer {
  readonly #options: MailQueueOptions
  readonly #stopping = new AbortController()
  readonly #waiting = new Set<Delivery>()
  /** Tried for the last time without success. */
  #left: Delivery[] = []
  #isClosed = false

  constructor(options: MailQueueOptions) {
    this.#options = options
  }

  /** Resolves at once. Throws 'invalid' as the mailer would, and 'unavailable' when too many wait. */
  async send(mail: Mail): Promise<void> {
    checkMail(mail)
    if (this.#isClosed || this.#waiting.size >= maxWaiting) throw new AppError('unavailable', 'too many mails wait')
    this.#begin(mail)
  }

  /** Sends what was left when the server stopped last. */
  async resume(): Promise<void> {
    for (const { name, mail } of (await this.#options.spool?.list()) ?? []) this.#begin(mail, name)
  }

  stats(): { readonly waiting: number } {
    return { waiting: this.#waiting.size }
  }

  /** Resolves when all that was sent before is delivered or given up. */
  async flush(): Promise<void> {
    await Promise.all([...this.#waiting].map(({ settled }) => settled))
  }

  /** Everything that waits is tried once more, for some seconds; what is left then is kept. */
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

  /** Tries for about an hour. Never rejects. */
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
          log.error(fields, 'a mail was not sent')
          break
        }
        log.warn(fields, 'a mail was not sent yet')
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
      log.warn({ reason: errorChain(error) }, 'a mail that was sent could not be removed, and is sent again')
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
        log.error({ reason: errorChain(error) }, 'a mail was not sent')
      }
    }
    if (kept > 0) log.warn({ mails: kept }, 'mails were not sent: they are when the server starts again')
  }
}

function isForGood(error: unknown): boolean {
  return error instanceof AppError && error.kind === 'invalid'
}

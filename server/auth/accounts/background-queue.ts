// Work whose outcome must not show: it begins when the answer is out, takes as long as it takes, and its failure is only logged.

import { AppError, errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import { SerialQueue } from '../../base/serial-queue.ts'

const maxTasks = 1000

export class BackgroundQueue {
  readonly #log: Logger
  /** One by one: of two links that replace each other, the later one must be good. */
  readonly #tasks = new SerialQueue()

  constructor(log: Logger) {
    this.#log = log
  }

  /** Throws 'unavailable' when too much is to be done already: for what must not be begun then. */
  check(): void {
    if (this.#tasks.size >= maxTasks) throw new AppError('unavailable', 'too many mails are being prepared')
  }

  /** `what`: for the log, as "an email could not be sent". Throws as `check`. */
  do(what: string, work: () => Promise<void>): void {
    this.check()
    void this.#tasks.run(() => this.#run(what, work))
  }

  /** As `do`, for what follows from something that is done already: should there be no room, it is left out, and the log says so. */
  notify(what: string, work: () => Promise<void>): void {
    if (this.#tasks.size < maxTasks) this.do(what, work)
    else this.#log.error({ reason: 'too much is to be done already' }, what)
  }

  /** Resolves when all that was begun before is done. */
  async flush(): Promise<void> {
    await this.#tasks.idle()
  }

  async #run(what: string, work: () => Promise<void>): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    try {
      await work()
    } catch (error) {
      this.#log.error({ reason: errorChain(error) }, what)
    }
  }
}

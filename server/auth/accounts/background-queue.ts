// Runs work whose outcome callers must not observe. It starts after the response has been sent, and failures are only
// logged.

import { AppError, errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import { SerialQueue } from '../../base/serial-queue.ts'

const maxTasks = 1000

export class BackgroundQueue {
  readonly #log: Logger
  /** Tasks run one at a time: if one link replaces another, the later one must be the valid one. */
  readonly #tasks = new SerialQueue()

  constructor(log: Logger) {
    this.#log = log
  }

  /** Throws 'unavailable' if the queue is full. Call it before changes that need the queue. */
  check(): void {
    if (this.#tasks.size >= maxTasks) throw new AppError('unavailable', 'too many emails are being prepared')
  }

  /** `what` is the log message for a failure, such as "an email could not be sent". Throws like `check`. */
  do(what: string, work: () => Promise<void>): void {
    this.check()
    void this.#tasks.run(() => this.#run(what, work))
  }

  /**
   * Like `do`, for consequences of a change that has already been made. If the queue is full, the task is dropped and
   * logged.
   */
  notify(what: string, work: () => Promise<void>): void {
    if (this.#tasks.size < maxTasks) this.do(what, work)
    else this.#log.error({ reason: 'the background queue is full' }, what)
  }

  /** Resolves when all tasks that were added before are done. */
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

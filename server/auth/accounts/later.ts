// Work whose outcome must not show: it begins when the answer is out, takes as long as it takes, and its failure is only logged.

import { AppError, errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'

const maxTasks = 1000

export class Later {
  readonly #log: Logger
  readonly #tasks = new Set<Promise<void>>()

  constructor(log: Logger) {
    this.#log = log
  }

  /** `what`: for the log, as "a mail was not sent". Throws 'unavailable' when too much is to be done already. */
  do(what: string, work: () => Promise<void>): void {
    if (this.#tasks.size >= maxTasks) throw new AppError('unavailable', 'too many mails are being prepared')
    const task = (async () => {
      await new Promise((resolve) => setImmediate(resolve))
      try {
        await work()
      } catch (error) {
        this.#log.error({ reason: errorChain(error) }, what)
      }
    })()
    this.#tasks.add(task)
    void task.then(() => this.#tasks.delete(task))
  }

  /** Resolves when all that was begun before is done. */
  async flush(): Promise<void> {
    await Promise.all(this.#tasks)
  }
}

// One timer for all streams that only repeat bytes: a hundred timers of their own would cost more than the sending.

import type { Clock } from '../../../server/base/clock.ts'

export type Paced = {
  /** Sends what is due. Must not throw. */
  sendDue(monotonicMs: number, unixMs: number): void
}

const tickMs = 5

export class Pacer {
  readonly #clock: Clock
  readonly #paced = new Set<Paced>()
  #running: Promise<void> | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(paced: Paced): void {
    this.#paced.add(paced)
    this.#running ??= this.#run()
  }

  remove(paced: Paced): void {
    this.#paced.delete(paced)
  }

  /** Resolves when nothing is sent any more. */
  async close(): Promise<void> {
    this.#paced.clear()
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#paced.size > 0) {
      const monotonicMs = this.#clock.monotonicMs()
      const unixMs = this.#clock.nowMs()
      for (const paced of this.#paced) paced.sendDue(monotonicMs, unixMs)
      await this.#clock.sleep(tickMs)
    }
    this.#running = undefined
  }
}

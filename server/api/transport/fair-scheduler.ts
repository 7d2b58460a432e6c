// Spreads a crowd over turns of the event loop. What comes at once is otherwise done at once: five hundred TLS
// handshakes are half a second in which nobody else is served. Whoever sends most does not keep the others waiting:
// clients take turns (fair-queue.ts).

import { FairQueue } from './fair-queue.ts'

type Work = () => void

export type FairSchedulerOptions = {
  /** How many begin in one turn of the loop. */
  readonly perTurn: number
  /**
   * Beyond the first few, none begins later than this after the first of its turn, so that what is costly makes a turn
   * of fewer. Default: no limit.
   */
  readonly maxMs?: number
}

/** However long they take: on a machine that has other work, time passes while nothing is done. */
const minPerTurn = 8

export class FairScheduler {
  readonly #perTurn: number
  readonly #maxMs: number
  readonly #waiting = new FairQueue<Work>()
  #started = 0
  #beganMs = 0
  /** Callbacks that are due in the next turn. */
  #steps = 0

  constructor({ perTurn, maxMs = Number.POSITIVE_INFINITY }: FairSchedulerOptions) {
    this.#perTurn = perTurn
    this.#maxMs = maxMs
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /**
   * Calls `work` at once, or in one of the next turns when enough was begun in this one. In order for each connection
   * of a client; `work` must not throw.
   */
  take(client: string, work: Work, connection: unknown = undefined): void {
    if (this.#waiting.size === 0 && this.#mayBegin()) {
      this.#begin(work)
    } else {
      this.#waiting.add(client, connection, work)
      this.#schedule()
    }
  }

  #mayBegin(): boolean {
    if (this.#started < Math.min(minPerTurn, this.#perTurn)) return true
    if (this.#started >= this.#perTurn) return false
    return this.#maxMs === Number.POSITIVE_INFINITY || performance.now() - this.#beganMs < this.#maxMs
  }

  #begin(work: Work): void {
    if (this.#started++ === 0) this.#beganMs = performance.now()
    this.#schedule()
    work()
  }

  /**
   * A callback for each that waits: what one leads to, in promises, is done before the next. The first of them ends
   * this turn.
   */
  #schedule(): void {
    const steps = Math.max(1, Math.min(this.#perTurn, this.#waiting.size))
    while (this.#steps < steps) setImmediate(this.#steps++ === 0 ? this.#turn : this.#step)
  }

  readonly #turn = (): void => {
    this.#steps = 0
    this.#started = 0
    this.#step()
    if (this.#waiting.size > 0) this.#schedule()
  }

  readonly #step = (): void => {
    if (!this.#mayBegin()) return
    const work = this.#waiting.take()
    if (work) this.#begin(work)
  }
}

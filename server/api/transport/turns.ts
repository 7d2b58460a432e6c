// Spreads a crowd over turns of the event loop. What comes at once is otherwise done at once: five hundred TLS handshakes are half a
// second in which nobody else is served.

type Work = () => void

export class Turns {
  readonly #perTurn: number
  readonly #waiting: Work[] = []
  #next = 0
  #started = 0
  #isScheduled = false

  /** How many begin in one turn of the loop. */
  constructor(perTurn: number) {
    this.#perTurn = perTurn
  }

  get waiting(): number {
    return this.#waiting.length - this.#next
  }

  /** Calls `work` at once, or in one of the next turns when enough was begun in this one. In order; `work` must not throw. */
  take(work: Work): void {
    if (this.#started < this.#perTurn && this.waiting === 0) {
      this.#started++
      this.#schedule()
      work()
    } else {
      this.#waiting.push(work)
    }
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.#isScheduled = false
    this.#started = 0
    while (this.#started < this.#perTurn && this.waiting > 0) {
      this.#started++
      this.#waiting[this.#next++]!()
    }
    if (this.waiting === 0) {
      this.#waiting.length = 0
      this.#next = 0
    }
    if (this.#started > 0) this.#schedule()
  }
}

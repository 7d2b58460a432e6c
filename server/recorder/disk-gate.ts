// Lets so many operations of a disk run at once, the others wait their turn: a disk that hangs must not take all the threads that the
// process has for files.

export class DiskGate {
  readonly #maxRunning: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(maxRunning: number) {
    this.#maxRunning = maxRunning
  }

  /** In the order of the calls. */
  async run<T>(operation: () => Promise<T>): Promise<T> {
    if (this.#running < this.#maxRunning) this.#running++
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await operation()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running--
    }
  }
}

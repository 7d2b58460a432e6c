// Runs tasks one after the other in the order in which they were added.

export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve()
  #size = 0

  /** The number of tasks that run or wait. */
  get size(): number {
    return this.#size
  }

  /** Runs `work` after all earlier tasks have ended, even if they failed, and returns its result or throws its error. */
  run<T>(work: () => Promise<T>): Promise<T> {
    this.#size++
    const done = this.#last.then(work).finally(() => {
      this.#size--
    })
    this.#last = done.catch(() => {})
    return done
  }

  /** Resolves when all tasks added so far have ended. */
  async idle(): Promise<void> {
    await this.#last
  }
}

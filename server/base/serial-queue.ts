// Runs tasks one after the other in the order in which they were added.

export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve()

  /** Runs `work` after all earlier tasks have ended, even if they failed, and returns its result. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => {})
    return done
  }

  /** Resolves when all tasks added so far have ended. */
  async idle(): Promise<void> {
    await this.#last
  }
}

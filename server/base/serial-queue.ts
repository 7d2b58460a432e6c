// Work that must not overlap, done in the order in which it was given.

export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve()

  /** What `work` gives, once all that was given before has ended, however it ended. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => {})
    return done
  }

  /** Resolves when all that was given so far has ended. */
  async idle(): Promise<void> {
    await this.#last
  }
}

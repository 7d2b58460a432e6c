// Whether the frames of a camera are needed now, because it is recorded or watched. One owner sets the state, and the
// camera's session waits for changes.

export class Demand {
  #isWanted: boolean
  readonly #listeners = new Set<() => void>()

  constructor(isWanted: boolean) {
    this.#isWanted = isWanted
  }

  get isWanted(): boolean {
    return this.#isWanted
  }

  set(isWanted: boolean): void {
    if (isWanted === this.#isWanted) return
    this.#isWanted = isWanted
    for (const listener of [...this.#listeners]) listener()
  }

  /** Resolves at the next change or when `signal` aborts. */
  changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#listeners.delete(done)
        signal.removeEventListener('abort', done)
        resolve()
      }
      this.#listeners.add(done)
      signal.addEventListener('abort', done, { once: true })
      if (signal.aborted) done()
    })
  }
}

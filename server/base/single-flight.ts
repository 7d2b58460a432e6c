// Callers at the same time share one run of the same work and its result. What follows a finished run is a new run.

export class SingleFlight<T> {
  #running: Promise<T> | undefined

  /** The run in progress, if any. */
  get running(): Promise<T> | undefined {
    return this.#running
  }

  /** Joins the run in progress, or starts `work`. Throws the error of the run that it joined or started. */
  run(work: () => Promise<T>): Promise<T> {
    this.#running ??= work().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }
}

// A bounded queue of items that are written in the background, in order and in batches. Callers never wait. What cannot
// be written stays in the queue until the next attempt.

export type WriteBehindOptions<T> = {
  /** Items that may wait; further ones are refused. */
  readonly maxWaiting: number
  readonly maxBatch: number
  /** Writes all items of the batch or none. A rejection ends the attempt and keeps the items. */
  readonly write: (batch: readonly T[]) => Promise<void>
  /** Called after each batch that was written and has left the queue. */
  readonly onWritten?: () => void
  /** Called when an attempt ends because a batch could not be written. */
  readonly onFailure: (error: unknown) => void
}

export class WriteBehind<T> {
  readonly #options: WriteBehindOptions<T>
  #waiting: T[] = []
  #writing: Promise<void> | undefined

  constructor(options: WriteBehindOptions<T>) {
    this.#options = options
  }

  /** The number of items that are not written yet. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Returns false, and does nothing, if the queue is full. */
  add(item: T): boolean {
    if (this.#waiting.length >= this.#options.maxWaiting) return false
    this.#waiting.push(item)
    return true
  }

  /** Starts to write what waits. Items that the caller adds before it returns to the event loop go along. */
  send(): void {
    if (this.#waiting.length > 0) this.#writing ??= this.#drain()
  }

  /** Resolves when everything added so far is written, or cannot be written at the moment. */
  async flush(): Promise<void> {
    await this.#writing
    this.send()
    await this.#writing
  }

  async #drain(): Promise<void> {
    const { maxBatch, write, onWritten, onFailure } = this.#options
    await Promise.resolve()
    try {
      while (this.#waiting.length > 0) {
        const batch = this.#waiting.slice(0, maxBatch)
        await write(batch)
        this.#waiting = this.#waiting.slice(batch.length)
        onWritten?.()
      }
    } catch (error) {
      onFailure(error)
    } finally {
      // In the same step in which the queue was seen empty: an item that is added later starts another attempt.
      this.#writing = undefined
    }
  }
}

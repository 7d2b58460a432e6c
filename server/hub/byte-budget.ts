// Bytes that several owners may hold together. Whoever gets none goes without; nobody waits.

export class ByteBudget {
  readonly #maxBytes: number
  #usedBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** False when there are not so many left: then none are taken. */
  take(bytes: number): boolean {
    if (this.#usedBytes + bytes > this.#maxBytes) return false
    this.#usedBytes += bytes
    return true
  }

  give(bytes: number): void {
    this.#usedBytes -= bytes
  }

  get leftBytes(): number {
    return this.#maxBytes - this.#usedBytes
  }

  get usedBytes(): number {
    return this.#usedBytes
  }
}

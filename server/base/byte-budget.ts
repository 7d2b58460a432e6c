// A number of bytes shared by several owners. An owner that gets none continues without; nobody waits.

export class ByteBudget {
  readonly #maxBytes: number
  #usedBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Returns false, and takes nothing, if fewer bytes are left. */
  take(bytes: number): boolean {
    if (this.#usedBytes + bytes > this.#maxBytes) return false
    this.#usedBytes += bytes
    return true
  }

  /**
   * Takes the bytes even if fewer are left: for an owner that has them already and will drop some because of that. A
   * negative number gives bytes back.
   */
  charge(bytes: number): void {
    this.#usedBytes += bytes
  }

  give(bytes: number): void {
    this.#usedBytes -= bytes
  }

  /** Negative after `charge` has taken more than was left. */
  get leftBytes(): number {
    return this.#maxBytes - this.#usedBytes
  }

  get usedBytes(): number {
    return this.#usedBytes
  }
}

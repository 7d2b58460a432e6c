// How many bytes of frames recorders may hold: each some seconds of what its camera sends, and all of a worker together
// no more than a budget. A recorder may hold as much as is still free, so that one alone gets half of the budget, two
// get a third each, and however many there are, something is left for the next. Why: docs/design/back-pressure.md.

import type { ByteBudget } from '../base/byte-budget.ts'

/** At least this much may be held while the budget allows it, also of a camera whose rate is not known yet. */
const minBytes = 8 * 1024 * 1024

/** What a camera sends in this time may wait: twice as long as a busy disk was seen to take for a sync. */
const pendingMs = 8000

/** How much of its lead the learned rate keeps at each fragment with a lower rate. */
const decay = 31 / 32

/** What one recorder holds and may hold. The budget is shared by all recorders of a worker. */
export class PendingBytes {
  readonly #budget: ByteBudget
  readonly #minBytes: number
  #heldBytes = 0
  #bytesPerMs = 0

  constructor(budget: ByteBudget, leastBytes = minBytes) {
    this.#budget = budget
    this.#minBytes = leastBytes
  }

  /** From each fragment: the rate rises at once and falls slowly, since a quiet scene may end at any moment. */
  learn(bytes: number, durationMs: number): void {
    if (durationMs <= 0) return
    const bytesPerMs = bytes / durationMs
    this.#bytesPerMs = Math.max(bytesPerMs, bytesPerMs + (this.#bytesPerMs - bytesPerMs) * decay)
  }

  /** Sets how many bytes are held now. */
  hold(bytes: number): void {
    if (bytes === this.#heldBytes) return
    this.#budget.charge(bytes - this.#heldBytes)
    this.#heldBytes = bytes
  }

  /** How many bytes may be held now. */
  get maxBytes(): number {
    const ownBytes = Math.max(this.#minBytes, this.#bytesPerMs * pendingMs)
    // As much as would be left for the others.
    const shareBytes = (this.#budget.leftBytes + this.#heldBytes) / 2
    return Math.min(ownBytes, shareBytes)
  }
}

// Limits the bytes of frames that recorders hold: each recorder to several seconds of its camera's data, and all
// recorders of a worker to a shared budget. A recorder may hold as much as is still free, so that a single one gets
// half of the budget, two get a third each, and some budget always remains for the next one. Reasons:
// docs/design/back-pressure.md.

import type { ByteBudget } from '../base/byte-budget.ts'

/** A recorder may hold at least this much while the budget allows it, even if the rate of its camera is unknown. */
const minBytes = 8 * 1024 * 1024

/** A recorder may hold what its camera sends in this time. It is twice the longest observed sync of a busy disk. */
const pendingMs = 8000

/** The share of the difference to a lower rate that the learned rate keeps at each fragment. */
const decay = 31 / 32

/** The bytes that one recorder holds and may hold. The budget is shared by all recorders of a worker. */
export class PendingBytes {
  readonly #budget: ByteBudget
  readonly #minBytes: number
  #heldBytes = 0
  #bytesPerMs = 0

  constructor(budget: ByteBudget, ownMinBytes = minBytes) {
    this.#budget = budget
    this.#minBytes = ownMinBytes
  }

  /**
   * Learns the rate from a fragment. The rate rises at once and falls slowly, because a quiet scene may end at any
   * time.
   */
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

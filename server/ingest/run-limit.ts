// How often one camera may begin a run. Each run costs a file, two waits for the disk, a row and the attention of every viewer,
// so a camera that asks for one at each picture would cost more than all others together. docs/design/ingest.md, "Runs".

/** Runs that may follow each other at once: reconnects, a change of settings, a switch from day to night. */
const burst = 8
/** From then on there is one for each of these intervals. */
const intervalMs = 5000

/** A picture that goes missing for longer is a gap that is told. */
export const maxUntoldMs = 1000

export class RunLimit {
  #left = burst
  #filledMs = Number.NEGATIVE_INFINITY

  /** Takes the right to begin a run at `nowMs`, by any clock; false when there is none at the moment. */
  take(nowMs: number): boolean {
    this.#fill(nowMs)
    if (this.#left < 1) return false
    this.#left--
    return true
  }

  /** A new connection may begin one in any case: how often there is one is bounded elsewhere (reconnect-pause.ts). */
  allowOne(): void {
    this.#left = Math.max(1, this.#left)
  }

  #fill(nowMs: number): void {
    // A clock that was set back begins anew.
    const passedMs = nowMs - this.#filledMs
    this.#filledMs = nowMs
    if (passedMs > 0) this.#left = Math.min(burst, this.#left + passedMs / intervalMs)
  }
}

// How often one camera may begin a run. Each run costs a file, two waits for the disk, a row and the attention of every
// viewer, so a camera that asks for one at each picture would cost more than all others together.
// docs/design/camera-time.md, "Runs".

/** Runs that may follow each other at once: reconnects, a change of settings, a switch from day to night. */
const burst = 8
/** After that, one run is allowed per interval. */
const intervalMs = 5000

/** When pictures are missing for longer than this, the timeline shows a gap. */
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
    // When the clock was set back, time counts from here.
    const passedMs = nowMs - this.#filledMs
    this.#filledMs = nowMs
    if (passedMs > 0) this.#left = Math.min(burst, this.#left + passedMs / intervalMs)
  }
}

// Limits how often one camera may begin a run. Each run costs a file, two waits for the disk, a database row and work
// for every viewer, so a camera that begins one at each frame would cost more than all others together. See "Runs" in
// docs/design/camera-time.md.

/** Runs that may begin without a pause: reconnects, a change of settings, a switch from day to night. */
const burst = 8
/** After that, one run is allowed per interval. */
const intervalMs = 5000

/** If no frame was kept for longer than this, the run ends and the timeline shows a gap. */
export const maxUnreportedMs = 1000

export class RunLimit {
  #left = burst
  #filledMs = Number.NEGATIVE_INFINITY

  /** Uses one of the allowed runs at `nowMs`, by any clock. Returns false if none is left at the moment. */
  take(nowMs: number): boolean {
    this.#fill(nowMs)
    if (this.#left < 1) return false
    this.#left--
    return true
  }

  /** Allows a new connection to begin a run in any case. The number of connections is limited by reconnect-pause.ts. */
  allowOne(): void {
    this.#left = Math.max(1, this.#left)
  }

  #fill(nowMs: number): void {
    // If the clock was set back, time counts from the new value.
    const passedMs = nowMs - this.#filledMs
    this.#filledMs = nowMs
    if (passedMs > 0) this.#left = Math.min(burst, this.#left + passedMs / intervalMs)
  }
}

// What is known of the pictures of one camera: what they have cost, whether they are quick to decode, whether one of them crashed or
// hung its process.

/** What a key frame has cost. `cpuMs`: processor time; undefined where nobody can tell. */
export type Spent = { readonly cpuMs: number | undefined; readonly isLost: boolean }

/** A key frame of 1080p takes some 8 ms of a usual processor, one of 4K 30; what takes longer keeps others waiting. */
const quickMs = 40

/** After an expensive or lost frame the camera counts as slow, and after a lost one nothing is decoded: each time for twice as long. */
const slowMs = { first: 60_000, longest: 3_600_000 }
const blockedMs = { first: 5000, longest: 600_000 }

export class DecodeStanding {
  /** Processor time spent so far; of a camera that comes back, at least as much as that of the camera served last. */
  servedMs = 0
  #isKnown = false
  #strikes = 0
  #losses = 0
  #slowUntilMs = Number.NEGATIVE_INFINITY
  #blockedUntilMs = Number.NEGATIVE_INFINITY

  /** One of its frames was decoded, and none of the latest took long. */
  isQuick(nowMs: number): boolean {
    return this.#isKnown && nowMs >= this.#slowUntilMs
  }

  /** How long nothing of it is decoded; 0 or less: not at all. */
  blockedMs(nowMs: number): number {
    return this.#blockedUntilMs - nowMs
  }

  note({ cpuMs, isLost }: Spent, nowMs: number): void {
    this.servedMs += Math.max(1, cpuMs ?? 1)
    if (isLost) {
      this.#blockedUntilMs = nowMs + doubled(blockedMs, this.#losses++)
      this.#slowUntilMs = Math.max(this.#slowUntilMs, this.#blockedUntilMs + doubled(slowMs, this.#strikes++))
    } else if (cpuMs !== undefined && cpuMs > quickMs) this.#slowUntilMs = nowMs + doubled(slowMs, this.#strikes++)
    else this.#isKnown = true
    // A camera without incidents for as long as the longest penalty starts afresh.
    if (nowMs - this.#slowUntilMs > slowMs.longest) this.#strikes = this.#losses = 0
  }
}

function doubled({ first, longest }: { first: number; longest: number }, times: number): number {
  return Math.min(longest, first * 2 ** Math.min(times, 20))
}

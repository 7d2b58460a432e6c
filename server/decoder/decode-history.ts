// The decoding history of one camera: the processor time its frames have taken, whether they are quick to decode, and
// whether one of them crashed or hung its process.

/** The cost of a key frame. `cpuMs` is its processor time, undefined when unknown. */
export type DecodeCost = { readonly cpuMs: number | undefined; readonly isLost: boolean }

/**
 * A 1080p key frame takes about 8 ms on a typical processor, a 4K key frame 30 ms. Slower frames would delay others.
 */
const quickMs = 40

/**
 * An expensive or lost frame makes the camera slow, and a lost frame also blocks it. The duration doubles each time.
 */
const slowMs = { first: 60_000, longest: 3_600_000 }
const blockedMs = { first: 5000, longest: 600_000 }

export class DecodeHistory {
  /** Processor time taken so far. For a camera that was idle, at least that of the camera that was served last. */
  servedMs = 0
  #isKnown = false
  #slowCount = 0
  #lossCount = 0
  #slowUntilMs = Number.NEGATIVE_INFINITY
  #blockedUntilMs = Number.NEGATIVE_INFINITY

  /** Returns true when a frame was decoded and none of the recent ones was expensive. */
  isQuick(nowMs: number): boolean {
    return this.#isKnown && nowMs >= this.#slowUntilMs
  }

  /** Returns how long the camera is still blocked; 0 or less when it is not. */
  blockedMs(nowMs: number): number {
    return this.#blockedUntilMs - nowMs
  }

  note({ cpuMs, isLost }: DecodeCost, nowMs: number): void {
    this.servedMs += Math.max(1, cpuMs ?? 1)
    if (isLost) {
      this.#blockedUntilMs = nowMs + doublePenalty(blockedMs, this.#lossCount++)
      this.#slowUntilMs = Math.max(this.#slowUntilMs, this.#blockedUntilMs + doublePenalty(slowMs, this.#slowCount++))
    } else if (cpuMs !== undefined && cpuMs > quickMs)
      this.#slowUntilMs = nowMs + doublePenalty(slowMs, this.#slowCount++)
    else this.#isKnown = true
    // A camera without incidents for the longest penalty starts over.
    if (nowMs - this.#slowUntilMs > slowMs.longest) this.#slowCount = this.#lossCount = 0
  }
}

function doublePenalty({ first, longest }: { first: number; longest: number }, times: number): number {
  return Math.min(longest, first * 2 ** Math.min(times, 20))
}

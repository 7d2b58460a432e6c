// How long to wait before the next attempt: exponential, jittered, reset by success.

export type BackoffOptions = {
  /** First delay, in milliseconds. */
  readonly minMs: number
  /** Largest delay, in milliseconds. */
  readonly maxMs: number
  /** Uniform in [0, 1); a constructor argument so that tests are repeatable. */
  readonly random?: () => number
}

export class Backoff {
  readonly #minMs: number
  readonly #maxMs: number
  readonly #random: () => number
  #attempt = 0

  constructor({ minMs, maxMs, random = Math.random }: BackoffOptions) {
    this.#minMs = minMs
    this.#maxMs = maxMs
    this.#random = random
  }

  /** The next delay in milliseconds: between half and all of min·2ⁿ, at most `maxMs`. */
  nextMs(): number {
    const full = Math.min(this.#maxMs, this.#minMs * 2 ** Math.min(this.#attempt, 30))
    this.#attempt++
    return full / 2 + (full / 2) * this.#random()
  }

  reset(): void {
    this.#attempt = 0
  }
}

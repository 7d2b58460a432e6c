// Limits the rate of requests with one token bucket per key, in memory. A bucket is one number, the time at which it
// will be full again (the generic cell rate algorithm), so that a request costs one look-up and no timer.

import type { Clock } from './clock.ts'
import { AppError } from './error.ts'

/** A bucket that lacks less than this is full, because of rounding. */
const epsilonMs = 1e-3

/** What the headers RateLimit-Policy and RateLimit say (draft-ietf-httpapi-ratelimit-headers). */
export type RateState = {
  readonly limit: number
  readonly windowSeconds: number
  /** Requests that may be made at once now. */
  readonly remaining: number
  /** Seconds until the bucket is full again. */
  readonly resetSeconds: number
}

/** Thrown after too many requests. `rate` is what the response says about the limit. */
export class RateLimitError extends AppError {
  readonly rate: RateState

  constructor(rate: RateState, retryAfterSeconds: number) {
    super('rate_limited', 'too many requests', { retryAfterSeconds })
    this.rate = rate
  }
}

/** `usedMs`: how long until the bucket is full again. */
export function describeRate(limit: number, windowMs: number, usedMs: number): RateState {
  return {
    limit,
    windowSeconds: windowMs / 1000,
    remaining: Math.max(0, Math.floor(((windowMs - usedMs + epsilonMs) * limit) / windowMs)),
    resetSeconds: Math.ceil(usedMs / 1000),
  }
}

export type RateLimiterOptions = {
  /** Requests per window; 0 for no limit. */
  readonly limit: number
  /** A minute by default. */
  readonly windowMs?: number
  /** How many servers share the limit; 1 by default. */
  readonly servers?: (() => number) | undefined
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly maxKeys?: number
}

export class RateLimiter<K extends string | number> {
  readonly #whole: number
  readonly #windowMs: number
  readonly #servers: (() => number) | undefined
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #maxKeys: number
  readonly #fullAtMs = new Map<K, number>()

  constructor({ limit, windowMs = 60_000, servers, clock, maxKeys = 100_000 }: RateLimiterOptions) {
    this.#whole = limit
    this.#windowMs = windowMs
    this.#servers = servers
    this.#clock = clock
    this.#maxKeys = maxKeys
  }

  get size(): number {
    return this.#fullAtMs.size
  }

  /**
   * Counts a request. Returns undefined if there is no limit. After too many requests, throws RateLimitError and does
   * not count.
   */
  take(key: K): RateState | undefined {
    if (this.#whole === 0) return undefined
    const limit = this.#limit
    const intervalMs = this.#windowMs / limit
    const nowMs = this.#clock.monotonicMs()
    const known = this.#fullAtMs.get(key)
    const usedMs = (known === undefined || known < nowMs ? 0 : known - nowMs) + intervalMs
    const excessMs = usedMs - this.#windowMs
    if (excessMs > epsilonMs) {
      throw new RateLimitError(describeRate(limit, this.#windowMs, usedMs - intervalMs), Math.ceil(excessMs / 1000))
    }
    if (known === undefined && this.#fullAtMs.size >= this.#maxKeys) this.#forget(nowMs)
    this.#fullAtMs.set(key, nowMs + usedMs)
    return describeRate(limit, this.#windowMs, usedMs)
  }

  /** Takes back one `take`. */
  giveBack(key: K): void {
    const fullAtMs = this.#fullAtMs.get(key)
    if (fullAtMs !== undefined) this.#fullAtMs.set(key, fullAtMs - this.#windowMs / this.#limit)
  }

  /** The share of this server. */
  get #limit(): number {
    return this.#servers === undefined ? this.#whole : Math.max(1, Math.floor(this.#whole / this.#servers()))
  }

  /** Removes full buckets, which are the same as none, and then the oldest ones. */
  #forget(nowMs: number): void {
    for (const [key, fullAtMs] of this.#fullAtMs) if (fullAtMs <= nowMs) this.#fullAtMs.delete(key)
    for (const key of this.#fullAtMs.keys()) {
      if (this.#fullAtMs.size < 0.9 * this.#maxKeys) return
      this.#fullAtMs.delete(key)
    }
  }
}

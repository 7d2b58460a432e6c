// The rate limits of requests. Authenticated callers are counted by account, since they can register any number of
// applications; others are counted by IP address.

import type { Clock } from '../../base/clock.ts'
import { RateLimiter, type RateState } from '../../base/rate-limiter.ts'
import type { Caller } from '../caller.ts'
import { addressBlock } from './address-block.ts'

export type RateLimitsOptions = {
  /** API requests per minute: by account, or by IP address without valid credentials. 0 means no limit. */
  readonly apiPerMinute: number
  /** Token requests per minute and IP address. 0 means no limit. */
  readonly tokenPerMinute: number
  readonly clock: Pick<Clock, 'monotonicMs'>
}

/** Requests per minute with the event hash of a camera. This is part of the API and not configurable. */
const devicePerMinute = 10

export class RateLimits {
  readonly #callers: RateLimiter<number>
  readonly #addresses: RateLimiter<string>
  readonly #tokens: RateLimiter<string>
  readonly #devices: RateLimiter<number>

  constructor({ apiPerMinute, tokenPerMinute, clock }: RateLimitsOptions) {
    this.#callers = new RateLimiter({ limit: apiPerMinute, clock })
    this.#addresses = new RateLimiter({ limit: apiPerMinute, clock })
    this.#devices = new RateLimiter({ limit: devicePerMinute, clock })
    this.#tokens = new RateLimiter({ limit: tokenPerMinute, clock })
  }

  /**
   * Counts a request with valid credentials. Like all methods, returns undefined if there is no limit and throws
   * RateLimitError if it is exceeded.
   */
  takeCaller({ userId }: Caller): RateState | undefined {
    return this.#callers.take(userId)
  }

  /** Counts a request whose credentials are missing or not yet verified. */
  takeAddress(ip: string): RateState | undefined {
    return this.#addresses.take(addressBlock(ip))
  }

  /** Undoes `takeAddress` after the credentials turned out to be valid. */
  giveBackAddress(ip: string): void {
    this.#addresses.giveBack(addressBlock(ip))
  }

  /** Counts a request with the event hash of a camera. */
  takeDevice(cameraId: number): RateState | undefined {
    return this.#devices.take(cameraId)
  }

  /** Counts a request to a token endpoint. */
  takeToken(ip: string): RateState | undefined {
    return this.#tokens.take(addressBlock(ip))
  }
}

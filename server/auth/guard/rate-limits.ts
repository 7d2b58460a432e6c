// The rate limits of requests. Authenticated callers are counted by account, since they can register any number of
// applications; others are counted by IP address.

import type { Clock } from '../../base/clock.ts'
import { RateLimiter, type RateState } from '../../base/rate-limiter.ts'
import type { EventRates } from '../../store/cameras/event-rates.ts'
import type { Caller } from '../caller.ts'
import { addressBlock } from './address-block.ts'

export type RateLimitsOptions = {
  /** API requests per minute: by account, or by IP address without valid credentials. 0 means no limit. */
  readonly apiPerMinute: number
  /** Token requests per minute and IP address. 0 means no limit. */
  readonly tokenPerMinute: number
  /** How many servers share the limits; 1 by default. Devices may need more than a share of theirs. */
  readonly servers?: (() => number) | undefined
  /** Counts for all servers. Without it, this is the only one. */
  readonly deviceRates?: Pick<EventRates, 'take'> | undefined
  readonly clock: Pick<Clock, 'monotonicMs'>
}

/** Requests per minute with the event hash of a camera. This is part of the API and not configurable. */
const deviceRate = { limit: 10, windowMs: 60_000 } as const

export class RateLimits {
  readonly #callers: RateLimiter<number>
  readonly #addresses: RateLimiter<string>
  readonly #tokens: RateLimiter<string>
  readonly #devices: RateLimiter<number>

  readonly #deviceRates: RateLimitsOptions['deviceRates']

  constructor({ apiPerMinute, tokenPerMinute, servers, deviceRates, clock }: RateLimitsOptions) {
    this.#deviceRates = deviceRates
    this.#callers = new RateLimiter({ limit: apiPerMinute, servers, clock })
    this.#addresses = new RateLimiter({ limit: apiPerMinute, servers, clock })
    this.#devices = new RateLimiter({ ...deviceRate, clock })
    this.#tokens = new RateLimiter({ limit: tokenPerMinute, servers, clock })
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
  async takeDevice(cameraId: number): Promise<RateState | undefined> {
    return this.#deviceRates ? this.#deviceRates.take(cameraId, deviceRate) : this.#devices.take(cameraId)
  }

  /** Counts a request to a token endpoint. */
  takeToken(ip: string): RateState | undefined {
    return this.#tokens.take(addressBlock(ip))
  }
}

// Who is counted together: callers by account, whatever applications they use and can register more of; everybody whose credentials are not known by address.

import type { Clock } from '../../base/clock.ts'
import { RateLimiter, type RateState } from '../../base/rate-limiter.ts'
import type { Caller } from '../caller.ts'
import { addressBlock } from './address-block.ts'

export type RateLimitsOptions = {
  /** Requests a minute of the API: by account, and by address without good credentials. 0: no limit. */
  readonly apiPerMinute: number
  /** Requests a minute for tokens, by address. 0: no limit. */
  readonly tokenPerMinute: number
  readonly clock: Pick<Clock, 'monotonicMs'>
}

/** Requests a minute with the hash of a camera: part of the interface, and no option. */
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

  /** A request with good credentials. Like all here: undefined when there is no limit, throws RateLimitError beyond it. */
  takeCaller({ userId }: Caller): RateState | undefined {
    return this.#callers.take(userId)
  }

  /** A request without credentials that are known to be good. */
  takeAddress(ip: string): RateState | undefined {
    return this.#addresses.take(addressBlock(ip))
  }

  /** They were good after all. */
  giveBackAddress(ip: string): void {
    this.#addresses.giveBack(addressBlock(ip))
  }

  /** A request with the hash of a camera. */
  takeDevice(cameraId: number): RateState | undefined {
    return this.#devices.take(cameraId)
  }

  /** A request to a token endpoint. */
  takeToken(ip: string): RateState | undefined {
    return this.#tokens.take(addressBlock(ip))
  }
}

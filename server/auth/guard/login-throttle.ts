// How often passwords may be tried (NIST SP 800-63B 5.2.2): growing delays, never a lock that an attacker could use against the
// owner of an account. Known and unknown accounts are treated alike.

import { createHash } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'
import { addressBlock } from './address-block.ts'
import { FailureCounter, type FailurePolicy } from './failure-counter.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** One account from one address: five at will, then a pause that doubles with each, up to a quarter of an hour. */
const accountAtAddressPolicy: FailurePolicy = {
  free: 5,
  blockedUntilMs: ({ count, latestMs }) =>
    count < 5 ? 0 : latestMs + Math.min(15 * minute, 2 ** Math.min(count - 5, 20) * second),
  forgottenAtMs: ({ latestMs }) => latestMs + 24 * hour,
}

/** All accounts from one address: many people may share it. */
const addressPolicy = createWindowPolicy(100, 10 * minute)

/** One account from everywhere: beyond this only known devices get in, for the rest of the hour. */
const usualFromEverywhere = 100

/** Attempts that wait for others to be decided. */
const maxWaiting = 100

export type Attempt = {
  /** `undecided`: the password was not checked. To be called once. */
  end(outcome: 'right' | 'wrong' | 'undecided'): void
}

export type AttemptOrigin = {
  /** The account as compared; see model/email.ts. */
  readonly account: string
  readonly ip: string
  /** Names a device or sign-in of this account's user that what is typed comes from; undefined for one that anybody could have. */
  readonly knownAs?: string | undefined
}

export class LoginThrottle {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #accountsAtAddresses = new FailureCounter(accountAtAddressPolicy)
  readonly #addresses = new FailureCounter(addressPolicy)
  readonly #accounts: FailureCounter
  /** By account and what it is known as. */
  readonly #known: FailureCounter
  #waiting: (() => void)[] = []

  /** `fromEverywhere`: failures of one account within an hour that are free. */
  constructor(clock: Pick<Clock, 'monotonicMs'>, { fromEverywhere = usualFromEverywhere } = {}) {
    this.#clock = clock
    const accountPolicy = createWindowPolicy(fromEverywhere, hour)
    this.#accounts = new FailureCounter(accountPolicy)
    this.#known = new FailureCounter(accountPolicy)
  }

  /**
   * Resolves when the password may be checked, possibly after others that are being checked. Throws 'rate_limited' saying when to
   * come back.
   */
  async begin({ account: name, ip, knownAs }: AttemptOrigin): Promise<Attempt> {
    const account = keyOf(name)
    const address = addressBlock(ip)
    const here: [FailureCounter, string][] = [
      [this.#accountsAtAddresses, `${address} ${account}`],
      [this.#addresses, address],
    ]
    const everywhere: [FailureCounter, string] = [this.#accounts, account]
    // Known, it is not kept waiting by strangers; but what was stolen must not open more guesses than strangers have.
    const known: [FailureCounter, string][] = knownAs === undefined ? [] : [[this.#known, keyOf(`${name} ${knownAs}`)]]
    const counters = [...here, everywhere, ...known]
    const deciding = known.length > 0 ? [...here, ...known] : counters
    while (true) {
      const nowMs = this.#clock.monotonicMs()
      const waitMs = Math.max(...deciding.map(([counter, key]) => counter.waitMs(key, nowMs)))
      if (waitMs > 0) {
        const retryAfterSeconds = Math.ceil(waitMs / second)
        throw new AppError('rate_limited', 'too many failed log-ins', { retryAfterSeconds })
      }
      if (deciding.every(([counter, key]) => counter.hasRoom(key, nowMs))) break
      // Were they let through, a hundred guesses sent at once would be a hundred free guesses.
      await this.#waitForOthers()
    }
    const nowMs = this.#clock.monotonicMs()
    for (const [counter, key] of counters) counter.begin(key, nowMs)
    return { end: (outcome) => this.#end(counters, outcome) }
  }

  /** Somebody proved otherwise that the account is theirs, from `ip`: what others did to it does not keep them out. */
  forgive(account: string, ip: string): void {
    const key = keyOf(account)
    this.#accounts.forgive(key)
    this.#accountsAtAddresses.forgive(`${addressBlock(ip)} ${key}`)
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#accountsAtAddresses.size + this.#addresses.size + this.#accounts.size + this.#known.size
  }

  #end(counters: readonly [FailureCounter, string][], outcome: 'right' | 'wrong' | 'undecided'): void {
    const nowMs = this.#clock.monotonicMs()
    const [[accountAtAddress, key]] = counters as [[FailureCounter, string]]
    if (outcome === 'right') accountAtAddress.forgive(key)
    for (const [counter, each] of counters) counter.end(each, outcome === 'wrong', nowMs)
    const waiting = this.#waiting
    this.#waiting = []
    for (const resume of waiting) resume()
  }

  async #waitForOthers(): Promise<void> {
    if (this.#waiting.length >= maxWaiting) {
      throw new AppError('unavailable', 'too many log-ins at once', { retryAfterSeconds: 2 })
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}

/** Of one length, whatever strangers type. */
function keyOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

/** `limit` failures within a window that begins with the first of them. */
function createWindowPolicy(limit: number, windowMs: number): FailurePolicy {
  return {
    free: limit,
    blockedUntilMs: ({ count, firstMs }) => (count < limit ? 0 : firstMs + windowMs),
    forgottenAtMs: ({ firstMs }) => firstMs + windowMs,
  }
}

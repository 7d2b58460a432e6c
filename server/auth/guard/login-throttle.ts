// Throttles password attempts (NIST SP 800-63B section 5.2.2) with growing delays. Accounts are never locked, because
// an attacker could use that to lock users out. Unknown accounts are treated like known ones.

import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'
import type { FailureRows } from '../../store/accounts/failure-rows.ts'
import { addressBlock } from './address-block.ts'
import { FailureCounter, type FailurePolicy } from './failure-counter.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/**
 * For one account from one IP address or one known device: five free failures, then a delay that doubles each time, up to
 * 15 minutes.
 */
const accountAtAddressPolicy: FailurePolicy = {
  free: 5,
  blockedUntilMs: ({ count, latestMs }) =>
    count < 5 ? 0 : latestMs + Math.min(15 * minute, 2 ** Math.min(count - 5, 20) * second),
  ...{ lastsMs: 24 * hour, isRenewed: true },
}

/** For all accounts from one IP address, which many people may share. */
const addressPolicy = createWindowPolicy(100, 10 * minute)

/**
 * For one account from everywhere: after this many failures, only known devices may sign in for the rest of the hour.
 */
const usualFromEverywhere = 100

/** How long a wrong password is remembered. */
const rememberedMs = 24 * hour
const maxRemembered = 100_000

/** Attempts that wait until others are finished. */
const maxWaiting = 100

export type Attempt = {
  /** Call this once. `undecided` means that the password was not checked. */
  end(outcome: 'right' | 'wrong' | 'undecided'): Promise<void>
}

export type LoginThrottleOptions = {
  readonly clock: Pick<Clock, 'monotonicMs' | 'nowMs'>
  /** The failures that all servers have counted. */
  readonly rows: Pick<FailureRows, 'find' | 'add' | 'remove'>
  /** What is guessed. Failures of different kinds are counted separately. */
  readonly kind: string
  /** The number of free failures per account and hour. */
  readonly fromEverywhere?: number
}

/** What failures are counted for. */
type Counted = { readonly counter: FailureCounter; readonly key: string; readonly row: string }

export type AttemptOrigin = {
  /** The normalized account; see model/email.ts. */
  readonly account: string
  readonly ip: string
  /** Identifies the user's known device or session that the attempt comes from; undefined for unknown origins. */
  readonly knownAs?: string | undefined
  /**
   * A password that stays wrong. From one address, it does not count twice, because nobody learns anything from it: a
   * program with the old password must not lock its user out. From another one it does, so that nobody finds out what was
   * tried before. Omit it for codes that change.
   */
  readonly password?: string | undefined
}

export class LoginThrottle {
  readonly #options: LoginThrottleOptions
  readonly #accountsAtAddresses = new FailureCounter(accountAtAddressPolicy)
  readonly #addresses = new FailureCounter(addressPolicy)
  readonly #accounts: FailureCounter
  /** By account and known device or session. */
  readonly #known = new FailureCounter(accountAtAddressPolicy)
  /** When wrong passwords are forgotten, by a keyed digest with their account and address; oldest first. */
  readonly #wrong = new Map<string, number>()
  readonly #key = randomBytes(32)
  #waiting: (() => void)[] = []

  constructor(options: LoginThrottleOptions) {
    this.#options = options
    this.#accounts = new FailureCounter(createWindowPolicy(options.fromEverywhere ?? usualFromEverywhere, hour))
  }

  /**
   * Resolves when the password may be checked, possibly after other attempts. Throws 'rate_limited' with the time of
   * the next attempt.
   */
  async begin({ account: name, ip, knownAs, password }: AttemptOrigin): Promise<Attempt> {
    const { clock } = this.#options
    const account = keyOf(name)
    const address = addressBlock(ip)
    const strangers = [
      this.#count('account at address', `${address} ${account}`),
      this.#count('address', address),
      this.#count('account', account),
    ]
    // Known devices are delayed neither by strangers nor by others at the same address. But a stolen device must not allow
    // more guesses than strangers have.
    const known = knownAs === undefined ? [] : [this.#count('known', keyOf(`${name} ${knownAs}`))]
    const counted = [...strangers, ...known]
    const deciding = known.length > 0 ? known : counted
    await this.#learn(counted)
    while (true) {
      const nowMs = clock.monotonicMs()
      const waitMs = Math.max(...deciding.map(({ counter, key }) => counter.waitMs(key, nowMs)))
      if (waitMs > 0) {
        const retryAfterSeconds = Math.ceil(waitMs / second)
        throw new AppError('rate_limited', 'too many failed sign-ins', { retryAfterSeconds })
      }
      if (deciding.every(({ counter, key }) => counter.hasRoom(key, nowMs))) break
      // Otherwise a hundred guesses that are sent at once would all be free.
      await this.#waitForOthers()
    }
    const nowMs = clock.monotonicMs()
    for (const { counter, key } of counted) counter.begin(key, nowMs)
    const digest = password === undefined ? undefined : this.#digest(`${address} ${account} ${password}`)
    return { end: (outcome) => this.#end(counted, outcome, digest) }
  }

  /** The user proved by other means that the account is theirs, so failures of others no longer count for `ip`. */
  forgive(account: string, ip: string): Promise<void> {
    const key = keyOf(account)
    return this.#forgive([this.#count('account', key), this.#count('account at address', `${addressBlock(ip)} ${key}`)])
  }

  /** The number of keys in memory. */
  get size(): number {
    const counters = [this.#accountsAtAddresses, this.#addresses, this.#accounts, this.#known]
    return counters.reduce((sum, { size }) => sum + size, this.#wrong.size)
  }

  #count(what: 'account at address' | 'address' | 'account' | 'known', key: string): Counted {
    const counters = {
      'account at address': this.#accountsAtAddresses,
      address: this.#addresses,
      account: this.#accounts,
      known: this.#known,
    }
    return { counter: counters[what], key, row: `${this.#options.kind} ${what} ${key}` }
  }

  async #learn(counted: readonly Counted[]): Promise<void> {
    const { clock, rows } = this.#options
    const askedMs = clock.monotonicMs()
    const unixMs = clock.nowMs()
    const found = await rows.find(
      counted.map(({ row }) => row),
      unixMs,
    )
    const nowMs = clock.monotonicMs()
    // If the system's clock was set back, nobody waits until it shows that time again.
    const toMonotonic = (ms: number) => nowMs - Math.max(0, unixMs - ms)
    for (const { counter, key, row } of counted) {
      const failures = found.get(row)
      const { count, firstMs, latestMs } = failures ?? { count: 0, firstMs: 0, latestMs: 0 }
      const times = { firstMs: toMonotonic(firstMs), latestMs: toMonotonic(latestMs) }
      counter.learn(key, failures && { count, ...times }, { askedMs, nowMs })
    }
  }

  async #forgive(counted: readonly Counted[]): Promise<void> {
    for (const { counter, key } of counted) counter.forgive(key)
    await this.#options.rows.remove(counted.map(({ row }) => row))
  }

  async #end(
    counted: readonly Counted[],
    outcome: 'right' | 'wrong' | 'undecided',
    digest: string | undefined,
  ): Promise<void> {
    const { clock, rows } = this.#options
    const counts = outcome === 'wrong' && (digest === undefined || this.#isNew(digest, clock.monotonicMs()))
    try {
      if (outcome === 'right') {
        const own = counted.filter(
          ({ counter, key }) =>
            (counter === this.#accountsAtAddresses || counter === this.#known) && counter.hasFailed(key),
        )
        if (own.length > 0) await this.#forgive(own)
      }
      // The attempt counts as one in progress until its failure is written.
      if (counts) {
        const failures = counted.map(({ counter, row }) => ({ key: row, ...counter.policy }))
        await rows.add(failures, clock.nowMs())
      }
    } finally {
      const nowMs = clock.monotonicMs()
      for (const { counter, key } of counted) counter.end(key, counts, nowMs)
      const waiting = this.#waiting
      this.#waiting = []
      for (const resume of waiting) resume()
    }
  }

  /** Remembers it. */
  #isNew(digest: string, nowMs: number): boolean {
    const isKnown = (this.#wrong.get(digest) ?? 0) > nowMs
    for (const [each, untilMs] of this.#wrong) {
      if (untilMs > nowMs && this.#wrong.size < maxRemembered) break
      this.#wrong.delete(each)
    }
    this.#wrong.delete(digest)
    this.#wrong.set(digest, nowMs + rememberedMs)
    return !isKnown
  }

  /** The key is only in memory: the digest is of no use to anybody who reads it. */
  #digest(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('base64url')
  }

  async #waitForOthers(): Promise<void> {
    if (this.#waiting.length >= maxWaiting) {
      throw new AppError('unavailable', 'too many simultaneous sign-ins', { retryAfterSeconds: 2 })
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}

/** A key of constant length, whatever was typed. */
function keyOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

/** Allows `limit` failures within a window that starts with the first one. */
function createWindowPolicy(limit: number, windowMs: number): FailurePolicy {
  return {
    free: limit,
    blockedUntilMs: ({ count, firstMs }) => (count < limit ? 0 : firstMs + windowMs),
    ...{ lastsMs: windowMs, isRenewed: false },
  }
}

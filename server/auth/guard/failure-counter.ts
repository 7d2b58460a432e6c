// Failed attempts by key (an account, an address, both), and when the next one may be made. In memory, bounded.

export type Failures = {
  count: number
  /** Attempts that are being decided. Each may fail, so it is counted against what is left. */
  running: number
  firstMs: number
  latestMs: number
}

export type FailurePolicy = {
  /** Failures without consequences. Beyond them one attempt is decided at a time. */
  readonly free: number
  /** Monotonic time until which no attempt may be made. */
  blockedUntilMs(failures: Readonly<Failures>): number
  /** Monotonic time from which on the failures do not count any more. */
  forgottenAtMs(failures: Readonly<Failures>): number
}

export class FailureCounter {
  readonly #policy: FailurePolicy
  readonly #maxKeys: number
  readonly #failures = new Map<string, Failures>()

  constructor(policy: FailurePolicy, maxKeys = 100_000) {
    this.#policy = policy
    this.#maxKeys = maxKeys
  }

  get size(): number {
    return this.#failures.size
  }

  /** Milliseconds; 0 when an attempt may be made now. */
  waitMs(key: string, nowMs: number): number {
    const failures = this.#find(key, nowMs)
    return failures ? Math.max(0, this.#policy.blockedUntilMs(failures) - nowMs) : 0
  }

  /** Whether one more may be decided at the same time as those that are. */
  hasRoom(key: string, nowMs: number): boolean {
    const failures = this.#find(key, nowMs)
    return !failures || failures.running < Math.max(1, this.#policy.free - failures.count)
  }

  /** An attempt begins; `end` must follow. */
  begin(key: string, nowMs: number): void {
    const failures = this.#find(key, nowMs)
    if (failures) failures.running++
    else this.#insert(key, { count: 0, running: 1, firstMs: nowMs, latestMs: nowMs })
  }

  end(key: string, hasFailed: boolean, nowMs: number): void {
    const failures = this.#failures.get(key)
    if (!failures) return
    failures.running--
    if (hasFailed) {
      if (failures.count === 0) failures.firstMs = nowMs
      failures.count++
      failures.latestMs = nowMs
      // Moves to the end: what goes first when there are too many is what was quiet longest.
      this.#failures.delete(key)
      this.#failures.set(key, failures)
    } else if (failures.count === 0 && failures.running === 0) {
      this.#failures.delete(key)
    }
  }

  forgive(key: string): void {
    const failures = this.#failures.get(key)
    if (!failures) return
    failures.count = 0
    if (failures.running === 0) this.#failures.delete(key)
  }

  #find(key: string, nowMs: number): Failures | undefined {
    const failures = this.#failures.get(key)
    if (failures && failures.count > 0 && nowMs >= this.#policy.forgottenAtMs(failures)) failures.count = 0
    return failures
  }

  #insert(key: string, failures: Failures): void {
    if (this.#failures.size >= this.#maxKeys) {
      for (const [oldest, { running }] of this.#failures) {
        if (running > 0) continue
        this.#failures.delete(oldest)
        break
      }
    }
    this.#failures.set(key, failures)
  }
}

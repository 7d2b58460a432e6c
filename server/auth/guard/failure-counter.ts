// Counts failed attempts by key, such as an account or an IP address, and decides when the next attempt may be made.
// The counters are in memory and limited in number.

export type Failures = {
  count: number
  /** Attempts in progress. Each may fail, so it counts against the remaining ones. */
  running: number
  firstMs: number
  latestMs: number
}

export type FailurePolicy = {
  /** Failures that have no consequences. After them, only one attempt may be in progress at a time. */
  readonly free: number
  /** The monotonic time before which no attempt may be made. */
  blockedUntilMs(failures: Readonly<Failures>): number
  /** How long failures count: from the first one on, or from the latest one if each of them renews it. */
  readonly lastsMs: number
  readonly isRenewed: boolean
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

  /**
   * Takes over what other servers, or this one before its start, have counted. `undefined`: nothing that still counts.
   * `askedMs`: when they were asked; a failure that was counted here since may be missing.
   */
  learn(
    key: string,
    counted: Pick<Failures, 'count' | 'firstMs' | 'latestMs'> | undefined,
    { askedMs, nowMs }: { readonly askedMs: number; readonly nowMs: number },
  ): void {
    const failures = this.#find(key, nowMs)
    if (!failures) {
      if (counted) this.#insert(key, { ...counted, running: 0 })
    } else if (failures.count === 0 || failures.latestMs <= askedMs) Object.assign(failures, counted ?? { count: 0 })
  }

  get policy(): FailurePolicy {
    return this.#policy
  }

  /** Returns the milliseconds until the next attempt; 0 if it may be made now. */
  waitMs(key: string, nowMs: number): number {
    const failures = this.#find(key, nowMs)
    return failures ? Math.max(0, this.#policy.blockedUntilMs(failures) - nowMs) : 0
  }

  /** True if another attempt may be started while others are in progress. */
  hasRoom(key: string, nowMs: number): boolean {
    const failures = this.#find(key, nowMs)
    return !failures || failures.running < Math.max(1, this.#policy.free - failures.count)
  }

  /** Starts an attempt. `end` must follow. */
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
      // Moves the key to the end of the map. If there are too many, the least recently used are removed first.
      this.#failures.delete(key)
      this.#failures.set(key, failures)
    } else if (failures.count === 0 && failures.running === 0) {
      this.#failures.delete(key)
    }
  }

  hasFailed(key: string): boolean {
    return (this.#failures.get(key)?.count ?? 0) > 0
  }

  forgive(key: string): void {
    const failures = this.#failures.get(key)
    if (!failures) return
    failures.count = 0
    if (failures.running === 0) this.#failures.delete(key)
  }

  #find(key: string, nowMs: number): Failures | undefined {
    const failures = this.#failures.get(key)
    if (!failures) return undefined
    const { lastsMs, isRenewed } = this.#policy
    if (nowMs >= (isRenewed ? failures.latestMs : failures.firstMs) + lastsMs) failures.count = 0
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

// Decides when a loss is worth reporting. An outage begins with the first loss and ends with the first return that lasts,
// so a short flap is ignored and minutes of flapping are a single outage.

/** A moment by two clocks: the monotonic one for measuring, the wall clock for people. */
export type Moment = { readonly monotonicMs: number; readonly wallMs: number }

/** Milliseconds that an outage must last to be reported, and that the return must last to end it. */
export type OutageLimits = { readonly downMs: number; readonly upMs: number }

export type OutageNews<Cause> =
  | { readonly kind: 'begin'; readonly sinceMs: number; readonly cause: Cause }
  | { readonly kind: 'end'; readonly sinceMs: number; readonly untilMs: number }

type Present<Cause> = {
  readonly sinceMs: number
  /** Monotonic start and cause; undefined if an earlier process has reported the outage. */
  readonly began: { readonly monotonicMs: number; readonly cause: Cause } | undefined
  /** When the current return began. */
  up: Moment | undefined
  isReported: boolean
}

export class Outage<Cause> {
  readonly #limits: OutageLimits
  #present: Present<Cause> | undefined

  /** `reportedSinceMs`: wall clock at which an outage began that was reported before and may continue. */
  constructor(limits: OutageLimits, reportedSinceMs?: number) {
    this.#limits = limits
    if (reportedSinceMs === undefined) return
    this.#present = { sinceMs: reportedSinceMs, began: undefined, up: undefined, isReported: true }
  }

  /** Takes a loss. An outage that has begun keeps its first cause. */
  down({ monotonicMs, wallMs }: Moment, cause: Cause): void {
    if (this.#present) this.#present.up = undefined
    else this.#present = { sinceMs: wallMs, began: { monotonicMs, cause }, up: undefined, isReported: false }
  }

  up(at: Moment): void {
    if (this.#present) this.#present.up ??= at
  }

  /**
   * Returns what is to be reported now. `mayReport` is called before an outage is reported; if it returns false, the next
   * call of `poll` tries again.
   */
  poll(monotonicMs: number, mayReport: () => boolean = () => true): OutageNews<Cause> | undefined {
    const present = this.#present
    if (!present) return undefined
    const { sinceMs, began, up, isReported } = present
    if (up) {
      if (monotonicMs - up.monotonicMs < this.#limits.upMs) return undefined
      this.#present = undefined
      return isReported ? { kind: 'end', sinceMs, untilMs: up.wallMs } : undefined
    }
    if (isReported || !began || monotonicMs - began.monotonicMs < this.#limits.downMs || !mayReport()) return undefined
    present.isReported = true
    return { kind: 'begin', sinceMs, cause: began.cause }
  }
}

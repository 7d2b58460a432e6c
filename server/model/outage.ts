// When something that goes down and comes up is worth telling: an outage begins with the first loss and ends with the
// first return that lasts, so that a flap is nothing and minutes of flapping are one.

/** A moment by both clocks: one to measure with, one to tell people. */
export type Moment = { readonly monotonicMs: number; readonly wallMs: number }

/** How long it must be down to be told, and up to be over; milliseconds. */
export type OutageLimits = { readonly downMs: number; readonly upMs: number }

export type OutageNews<Cause> =
  | { readonly kind: 'begin'; readonly sinceMs: number; readonly cause: Cause }
  | { readonly kind: 'end'; readonly sinceMs: number; readonly untilMs: number }

type Present<Cause> = {
  readonly sinceMs: number
  /** Monotonic, and why; undefined when it began before this process, and was told. */
  readonly began: { readonly monotonicMs: number; readonly cause: Cause } | undefined
  /** Since when it is up again. */
  up: Moment | undefined
  isTold: boolean
}

export class Outage<Cause> {
  readonly #limits: OutageLimits
  #present: Present<Cause> | undefined

  /** `toldSinceMs`: of an outage that was told before and may go on; wall clock. */
  constructor(limits: OutageLimits, toldSinceMs?: number) {
    this.#limits = limits
    if (toldSinceMs === undefined) return
    this.#present = { sinceMs: toldSinceMs, began: undefined, up: undefined, isTold: true }
  }

  /** Being down already, it stays so for the first cause. */
  down({ monotonicMs, wallMs }: Moment, cause: Cause): void {
    if (this.#present) this.#present.up = undefined
    else this.#present = { sinceMs: wallMs, began: { monotonicMs, cause }, up: undefined, isTold: false }
  }

  up(at: Moment): void {
    if (this.#present) this.#present.up ??= at
  }

  /**
   * What there is to tell now. `mayTell` is asked before an outage is told; when it says no, it is asked again the next
   * time.
   */
  poll(monotonicMs: number, mayTell: () => boolean = () => true): OutageNews<Cause> | undefined {
    const present = this.#present
    if (!present) return undefined
    const { sinceMs, began, up, isTold } = present
    if (up) {
      if (monotonicMs - up.monotonicMs < this.#limits.upMs) return undefined
      this.#present = undefined
      return isTold ? { kind: 'end', sinceMs, untilMs: up.wallMs } : undefined
    }
    if (isTold || !began || monotonicMs - began.monotonicMs < this.#limits.downMs || !mayTell()) return undefined
    present.isTold = true
    return { kind: 'begin', sinceMs, cause: began.cause }
  }
}

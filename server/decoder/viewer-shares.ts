// Tracks the processor time that the images of each viewer have taken, so that a viewer with a thousand requests delays
// only its own. A viewer that was idle has accumulated no time: it starts at the level of the viewer that was served
// last.

/** Number of viewers whose time is kept. */
const maxViewers = 5000

/** The cost that is charged before the real cost is known. */
export const minTurnMs = 1

/** Stands for the server itself, which keeps an image of each camera. */
const serverPayer = 0

/** The viewers to charge, or the server itself when there are none. */
export const listPayers = (viewers: ReadonlySet<number>): Iterable<number> =>
  viewers.size === 0 ? [serverPayer] : viewers

export class ViewerShares {
  /** The viewer that was served longest ago comes first. */
  readonly #servedMs = new Map<number, number>()
  /** The time of the viewer that was served last. */
  #levelMs = 0

  /** Returns the time of the viewer in the set that has had the least. The set with the lowest value is served next. */
  find(viewers: ReadonlySet<number>): number {
    let least = Number.POSITIVE_INFINITY
    for (const payer of listPayers(viewers)) {
      least = Math.min(least, Math.max(this.#levelMs, this.#servedMs.get(payer) ?? 0))
    }
    return least
  }

  /**
   * Starts the turn of these viewers and charges at least a millisecond, so that viewers without a running frame come
   * first.
   */
  startTurn(viewers: ReadonlySet<number>): void {
    this.#levelMs = this.find(viewers)
    this.charge(viewers, minTurnMs)
  }

  /** Charges an equal part of the time to each viewer. */
  charge(viewers: ReadonlySet<number>, ms: number): void {
    const each = ms / Math.max(1, viewers.size)
    for (const payer of listPayers(viewers)) {
      const servedMs = Math.max(this.#levelMs, this.#servedMs.get(payer) ?? 0) + each
      this.#servedMs.delete(payer)
      this.#servedMs.set(payer, servedMs)
    }
    const [oldest] = this.#servedMs.keys()
    if (oldest !== undefined && this.#servedMs.size > maxViewers) this.#servedMs.delete(oldest)
  }
}

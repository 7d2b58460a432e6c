// How much processor time the pictures of each viewer have cost, so that whoever asks for a thousand delays their own. Whoever comes back
// has saved up nothing: they begin at the level of the one who was served last.

/** Viewers that are remembered. */
const maxViewers = 5000

/** What a turn costs before it is known what it has cost. */
export const leastTurnMs = 1

/** Stands for the server itself, which keeps a picture of each camera. */
const nobody = 0

/** Whoever wants a picture: viewers, or the server itself. */
export const partiesOf = (viewers: ReadonlySet<number>): Iterable<number> => (viewers.size === 0 ? [nobody] : viewers)

export class ViewerShares {
  /** The one that was served longest ago comes first. */
  readonly #servedMs = new Map<number, number>()
  /** That of the viewer whose turn it was last. */
  #levelMs = 0

  /** What the one of them who has had least has had: the least of all is to be served next. */
  find(viewers: ReadonlySet<number>): number {
    let least = Number.POSITIVE_INFINITY
    for (const party of partiesOf(viewers)) {
      least = Math.min(least, Math.max(this.#levelMs, this.#servedMs.get(party) ?? 0))
    }
    return least
  }

  /** It is their turn, which costs at least a millisecond: whoever has none running comes before them already while it runs. */
  noteTurn(viewers: ReadonlySet<number>): void {
    this.#levelMs = this.find(viewers)
    this.charge(viewers, leastTurnMs)
  }

  /** All of them have had an equal part of this. */
  charge(viewers: ReadonlySet<number>, ms: number): void {
    const each = ms / Math.max(1, viewers.size)
    for (const party of partiesOf(viewers)) {
      const servedMs = Math.max(this.#levelMs, this.#servedMs.get(party) ?? 0) + each
      this.#servedMs.delete(party)
      this.#servedMs.set(party, servedMs)
    }
    const [oldest] = this.#servedMs.keys()
    if (oldest !== undefined && this.#servedMs.size > maxViewers) this.#servedMs.delete(oldest)
  }
}

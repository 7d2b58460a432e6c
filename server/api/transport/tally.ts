// Counts what each of many holds of something there is only so much of: connections, streams, bytes. Whoever comes gets
// at most as much as is left for the others, so that one who takes all they can leaves half.

export type TallyLimits = {
  /** Of all together. */
  readonly max: number
  readonly maxOfOne: number
}

export class Tally {
  readonly #limits: TallyLimits
  readonly #held = new Map<string, number>()
  #total = 0

  constructor(limits: TallyLimits) {
    this.#limits = limits
  }

  get total(): number {
    return this.#total
  }

  /** How many hold something. */
  get size(): number {
    return this.#held.size
  }

  /** False, and nothing taken, when it would be more than `key` may have. */
  take(key: string, count = 1): boolean {
    const { max, maxOfOne } = this.#limits
    const held = (this.#held.get(key) ?? 0) + count
    if (held > Math.min(maxOfOne, max - this.#total)) return false
    this.#held.set(key, held)
    this.#total += count
    return true
  }

  /** Of what was taken. */
  give(key: string, count = 1): void {
    const left = this.#held.get(key)! - count
    if (left > 0) this.#held.set(key, left)
    else this.#held.delete(key)
    this.#total -= count
  }
}

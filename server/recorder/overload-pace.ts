// When recording goes on after too much waited for the disk. A disk that is slow for a moment costs no more than that; a camera whose
// pictures are larger than what may wait would otherwise make a file of each.

/** A file that ended sooner is a short one. */
const shortFileMs = 5000
/** So many in a row are followed by the next at once. */
const maxShortFiles = 4

export class OverloadPace {
  /** Monotonic: no file begins sooner. */
  resumeAtMs = Number.NEGATIVE_INFINITY
  #begunMs = Number.NEGATIVE_INFINITY
  #shortFiles = 0

  noteFile(nowMs: number): void {
    this.#begunMs = nowMs
  }

  /** The file was ended because too much waited. */
  noteOverload(nowMs: number): void {
    const earliestMs = this.#begunMs + shortFileMs
    this.#shortFiles = nowMs < earliestMs ? this.#shortFiles + 1 : 0
    if (this.#shortFiles > maxShortFiles) this.resumeAtMs = earliestMs
  }
}

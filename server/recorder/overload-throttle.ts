// When recording resumes after too many bytes waited for the disk: at once, if the disk was slow for a moment only. A
// camera whose pictures are larger than what may wait would make a file of each picture, so the files of such a camera
// are spaced out.

/** A file that ended sooner is a short one. */
const shortFileMs = 5000
/** After up to this many short files in a row the next one begins at once. */
const maxShortFiles = 4

export class OverloadThrottle {
  /** Monotonic time before which no file begins. */
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

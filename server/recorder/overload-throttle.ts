// Decides when recording resumes after too many bytes waited for the disk. It resumes at once if the disk was slow only
// for a moment. A camera whose frames exceed the limit would create a file for each frame, so the files of such a
// camera are spaced out.

/** A file that ended sooner counts as short. */
const shortFileMs = 5000
/** After up to this many consecutive short files the next one begins at once. */
const maxShortFiles = 4

export class OverloadThrottle {
  /** Monotonic time before which no file begins. */
  resumeAtMs = Number.NEGATIVE_INFINITY
  #begunMs = Number.NEGATIVE_INFINITY
  #shortFiles = 0

  noteFile(nowMs: number): void {
    this.#begunMs = nowMs
  }

  /** The file was ended because too many bytes waited for the disk. */
  noteOverload(nowMs: number): void {
    const earliestMs = this.#begunMs + shortFileMs
    this.#shortFiles = nowMs < earliestMs ? this.#shortFiles + 1 : 0
    if (this.#shortFiles > maxShortFiles) this.resumeAtMs = earliestMs
  }
}

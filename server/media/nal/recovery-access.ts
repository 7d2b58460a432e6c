// Decides which recovery points of a stream count as key frames, and which pictures are their leading pictures. A
// stream with IDR or IRAP pictures does not need its recovery points: starting at a picture that becomes correct only
// later is worse.

import type { RecoveryPoint } from './recovery-point.ts'

/**
 * After two immediate key frames a stream needs no gradual recovery points, unless no immediate key frame comes for
 * this many pictures.
 */
const maxPicturesBetweenKeys = 300

/** More consecutive pictures than this are not leading pictures: the clock of the camera has stepped back. */
const maxLeading = 16

export class RecoveryAccess {
  /** Presentation time of the last key frame, if it is a recovery point. */
  #shownAt = Number.NEGATIVE_INFINITY
  #leadingLeft = 0
  /** Key frames that are correct immediately, and the number of pictures since the last one. */
  #wholeKeys = 0
  #sinceWholeKey = 0
  /** The last gradual recovery point was skipped because some decoders cannot start at it. */
  #hasSkipped = false

  /**
   * Returns the recovery count of a picture without an IDR or IRAP slice, or undefined when decoding must not start
   * there. `isProblematic` is called for gradual recovery points and returns whether some decoders cannot start there.
   * Such a point is skipped, but never two in a row.
   */
  findCount(point: RecoveryPoint | undefined, isProblematic: () => boolean): number | undefined {
    if (!point) return undefined
    if (point.count === 0) return 0
    const isNeeded = this.#wholeKeys < 2 || this.#sinceWholeKey > maxPicturesBetweenKeys
    this.#hasSkipped = isNeeded && !this.#hasSkipped && isProblematic()
    return isNeeded && !this.#hasSkipped ? point.count : undefined
  }

  /**
   * Takes the timestamp of a picture that is not a key frame. Returns true when it directly follows a recovery point
   * and is shown before it.
   */
  isLeading(timestamp: number): boolean {
    if (timestamp < this.#shownAt && this.#leadingLeft-- > 0) return true
    this.#shownAt = Number.NEGATIVE_INFINITY
    return false
  }

  /** Reports a picture that is not a key frame. */
  noteNonKeyFrame(): void {
    this.#sinceWholeKey++
  }

  /** Reports a key frame. `recovery` is its recovery count if it is only a recovery point. */
  noteKeyFrame(timestamp: number, recovery: number | undefined): void {
    this.#shownAt = recovery === undefined ? Number.NEGATIVE_INFINITY : timestamp
    this.#leadingLeft = maxLeading
    if (recovery !== undefined && recovery > 0) this.#sinceWholeKey++
    else {
      this.#wholeKeys++
      this.#sinceWholeKey = 0
    }
  }
}

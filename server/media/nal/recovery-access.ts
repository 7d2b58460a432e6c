// Which recovery points of a stream count as key frames, and which pictures are leading pictures of them. A stream of IDR or IRAP pictures
// does not need its recovery points: a picture that is whole only later is a worse place to start.

import type { RecoveryPoint } from './recovery-point.ts'

/** After two whole key frames a stream needs no gradual recovery points, unless whole key frames stay away for so many pictures. */
const maxPicturesBetweenKeys = 300

/** More pictures in a row than this are no leading pictures: the camera's clock has stepped back. */
const maxLeading = 16

export class RecoveryAccess {
  /** When the last key frame is shown, if it is a recovery point. */
  #shownAt = Number.NEGATIVE_INFINITY
  #leadingLeft = 0
  /** Key frames that are whole at once, and the pictures since the last one. */
  #wholeKeys = 0
  #sinceWholeKey = 0
  /** The last gradual recovery point was passed over because some decoders can't begin at it. */
  #hasPassed = false

  /**
   * The recovery count of a picture without an IDR or IRAP slice; undefined when decoding is not to start there. `isPoor`: asked of a gradual
   * one, whether some decoders can't begin at it. Such a one is passed over, but never two in a row.
   */
  findCount(point: RecoveryPoint | undefined, isPoor: () => boolean): number | undefined {
    if (!point) return undefined
    if (point.count === 0) return 0
    const isNeeded = this.#wholeKeys < 2 || this.#sinceWholeKey > maxPicturesBetweenKeys
    this.#hasPassed = isNeeded && !this.#hasPassed && isPoor()
    return isNeeded && !this.#hasPassed ? point.count : undefined
  }

  /** Takes the timestamp of a picture that is no key frame. True when it follows a recovery point at once and is shown before it. */
  isLeading(timestamp: number): boolean {
    if (timestamp < this.#shownAt && this.#leadingLeft-- > 0) return true
    this.#shownAt = Number.NEGATIVE_INFINITY
    return false
  }

  /** A picture that is no key frame has ended. */
  noteOther(): void {
    this.#sinceWholeKey++
  }

  /** A key frame was handed on. `recovery`: its recovery count, when it is only a recovery point. */
  noteKey(timestamp: number, recovery: number | undefined): void {
    this.#shownAt = recovery === undefined ? Number.NEGATIVE_INFINITY : timestamp
    this.#leadingLeft = maxLeading
    if (recovery !== undefined && recovery > 0) this.#sinceWholeKey++
    else {
      this.#wholeKeys++
      this.#sinceWholeKey = 0
    }
  }
}

// The closed segments of a camera from the oldest on, read a page at a time; some of them may be passed over and are met again
// when it begins anew. What is deleted meanwhile does not matter: the next page begins after the last segment seen.

import type { OldSegment } from '../model/segment-views.ts'
import type { SegmentRows } from './segment-rows.ts'

const firstPage = 4
const maxPage = 64

export class OldestFirst {
  readonly cameraId: number
  readonly #rows: Pick<SegmentRows, 'listOldest'>
  #page: OldSegment[] = []
  #passedOver: OldSegment[] = []
  #after: OldSegment | undefined
  #pageSize = firstPage
  #isAtEnd = false

  constructor(rows: Pick<SegmentRows, 'listOldest'>, cameraId: number) {
    this.#rows = rows
    this.cameraId = cameraId
  }

  /** The oldest that was not taken, or undefined: also when a page must be read first, see `load`. */
  get head(): OldSegment | undefined {
    return this.#page[0]
  }

  /** True when `head` is what it says; false while there may be more to read. */
  get isLoaded(): boolean {
    return this.#page.length > 0 || this.#isAtEnd
  }

  async load(): Promise<void> {
    if (this.isLoaded) return
    this.#page = await this.#rows.listOldest(this.cameraId, { limit: this.#pageSize, after: this.#after })
    this.#isAtEnd = this.#page.length < this.#pageSize
    this.#after = this.#page.at(-1) ?? this.#after
    this.#pageSize = Math.min(maxPage, this.#pageSize * 4)
  }

  /** Removes `head`. */
  take(): void {
    this.#page.shift()
  }

  /** Puts `head` aside until `rewind`. */
  passOver(): void {
    this.#passedOver.push(...this.#page.splice(0, 1))
  }

  rewind(): void {
    this.#page.unshift(...this.#passedOver)
    this.#passedOver = []
  }
}

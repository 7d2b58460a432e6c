// Reads the closed segments of a camera from the oldest on, a page at a time. Segments may be skipped and are returned
// again after `rewind`. Deletions meanwhile do not matter, because the next page begins after the last segment seen.

import type { OldestQuery, OldSegment } from '../model/segment-views.ts'
import type { SegmentRows } from './segment-rows.ts'

const firstPage = 4
const maxPage = 64

export class OldestFirst {
  readonly #cameraId: number
  readonly #filter: Pick<OldestQuery, 'placeId' | 'endedByMs'>
  readonly #rows: Pick<SegmentRows, 'listOldest'>
  #page: OldSegment[] = []
  #passedOver: OldSegment[] = []
  #after: OldSegment | undefined
  #pageSize = firstPage
  #isAtEnd = false

  constructor(
    rows: Pick<SegmentRows, 'listOldest'>,
    cameraId: number,
    filter: Pick<OldestQuery, 'placeId' | 'endedByMs'> = {},
  ) {
    this.#rows = rows
    this.#cameraId = cameraId
    this.#filter = filter
  }

  /** The oldest segment that was not taken. Undefined also when a page must be loaded first, see `load`. */
  get head(): OldSegment | undefined {
    return this.#page[0]
  }

  /** True when `head` is final, false while there may be more to load. */
  get isLoaded(): boolean {
    return this.#page.length > 0 || this.#isAtEnd
  }

  async load(): Promise<void> {
    if (this.isLoaded) return
    const query = { ...this.#filter, limit: this.#pageSize, after: this.#after }
    this.#page = await this.#rows.listOldest(this.#cameraId, query)
    this.#isAtEnd = this.#page.length < this.#pageSize
    this.#after = this.#page.at(-1) ?? this.#after
    this.#pageSize = Math.min(maxPage, this.#pageSize * 4)
  }

  /** Removes `head`. */
  take(): void {
    this.#page.shift()
  }

  /** Skips `head` until `rewind`. */
  passOver(): void {
    this.#passedOver.push(...this.#page.splice(0, 1))
  }

  rewind(): void {
    this.#page.unshift(...this.#passedOver)
    this.#passedOver = []
  }
}

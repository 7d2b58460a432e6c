// Where the parts of low-latency HLS end. A part has whole frames. All parts of a camera are about equally long, because
// players are given their longest duration once and for all. RFC 8216bis 4.4.3.7.

/** How much video shows how far apart the frames are. One distance may be a hole. */
const learning = { length90k: 2 * 90_000, distances: 3 }

/**
 * hls.js finds a part by its time within a quarter of a second, so parts must be longer: a third of a second, less what
 * timestamps are rounded by.
 */
const shortest90k = 29_700

/** Of the longest duration of a part: a shorter one may only be the last of its segment. RFC 8216bis 4.4.3.7. */
export const shortestShare = 0.85

/** The distances between frames vary. */
const slack = 1.05

/** With fewer frames than about one a second, parts would be as long as segments. */
const longestTarget90k = 95_000

/** One for each source, because the target stays the same over all runs of the camera. */
export class PartRhythm {
  readonly #minSegment90k: number
  readonly #distances: number[] = []
  #isLearning = true
  /** The longest duration of a part. */
  #target90k: number | undefined
  #last90k: number | undefined
  #segmentStart90k = 0
  #partStart90k = 0
  #frames = 0

  /** `minSegmentMs`: a key frame that comes earlier does not begin a segment. */
  constructor(minSegmentMs: number) {
    this.#minSegment90k = minSegmentMs * 90
  }

  /** Undefined while it is not known yet, and for a camera with too few frames. */
  get targetMs(): number | undefined {
    return this.#target90k === undefined ? undefined : this.#target90k / 90
  }

  startRun(): void {
    this.#last90k = undefined
  }

  /** Whether a part begins with this frame of video. Undefined for a camera that has no parts: the caller decides. */
  next({ dts90k, isKey }: { readonly dts90k: number; readonly isKey: boolean }): boolean | undefined {
    const last90k = this.#last90k
    this.#last90k = dts90k
    if (last90k === undefined) return this.#begin(dts90k, true)
    const beginsSegment = isKey && dts90k - this.#segmentStart90k >= this.#minSegment90k
    const distance90k = dts90k - last90k
    if (this.#isLearning) this.#learn(distance90k)
    if (this.#target90k === undefined && (!this.#isLearning || distance90k > longestTarget90k)) {
      this.#begin(dts90k, beginsSegment)
      return undefined
    }
    const span90k = dts90k - this.#partStart90k
    const longest90k = this.#target90k ?? longestTarget90k
    // Another frame like those before would make the part too long.
    const isFull = (span90k * (this.#frames + 1)) / this.#frames > longest90k
    if (beginsSegment || isFull || span90k >= shortest90k) return this.#begin(dts90k, beginsSegment)
    this.#frames++
    return false
  }

  #begin(dts90k: number, beginsSegment: boolean): true {
    this.#partStart90k = dts90k
    this.#frames = 1
    if (beginsSegment) this.#segmentStart90k = dts90k
    return true
  }

  #learn(distance90k: number): void {
    const distances = this.#distances
    distances.push(distance90k)
    const length90k = distances.reduce((sum, each) => sum + each)
    if (length90k < learning.length90k || distances.length < learning.distances) return
    this.#isLearning = false
    const usual90k = distances.toSorted((a, b) => a - b)[distances.length >> 1]!
    const frames = Math.ceil(shortest90k / usual90k)
    const target90k = Math.ceil((frames * usual90k * slack) / 90) * 90
    if (target90k <= longestTarget90k) this.#target90k = target90k
  }
}

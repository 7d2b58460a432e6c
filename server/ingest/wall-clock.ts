// A camera's 90 kHz timestamps -> times on the run's axis and on the wall.
//
// Within a run both only go forwards, but for pictures that the stream itself reorders. When the camera's clock jumps, time is
// not bent: the axis is continued at the pace of arrival until the next key frame, and there a new run is due. A single frame
// stamped far away is no jump. Docs and figures: docs/design/ingest.md.

import type { PictureOrder } from '../media/frame.ts'
import { DecodeOrder } from './decode-order.ts'
import { OffsetFollower } from './offset-follower.ts'

const ticksPerMs = 90
const jumpTicks = 2000 * ticksPerMs
/** Reordered pictures step back for a few frames at most; more in a row is a clock set back by a little. */
const maxReordered = 16

const inOrder: PictureOrder = { depth: 0, maxDepth: 0, frameRate: undefined }

export class WallClock {
  /** Of the frame last mapped: ticks since the run began, and Unix milliseconds. */
  pts90k = 0
  wallMs = 0
  /** Timestamps that did not increase and were moved behind the one before. */
  reorderedFrames = 0
  /** Times the camera's clock jumped. */
  jumps = 0
  #follower = new OffsetFollower()
  #isRunDue = true
  /** Added to timestamps so that the axis goes on over a jump. */
  #shift90k = 0
  #zero90k = 0
  /** The greatest timestamp so far, and where on the run's axis its picture is shown. */
  #last90k = Number.NaN
  #lastPts90k = 0
  /** Of the frame last mapped. */
  #timestamp90k = Number.NaN
  readonly #order = new DecodeOrder()
  #lastArrivalMs = 0
  #reorderedInRow = 0
  /** `#shift90k` before the frame that jumped, until the next one has shown whether that was a single stray. */
  #strayShift90k: number | undefined

  /** `floorMs`: where an earlier clock of this camera ended; the wall clock does not go behind it. */
  constructor(floorMs = 0) {
    this.wallMs = floorMs
  }

  /** When the frame last mapped is decoded, on the run's axis: increases strictly, and is `pts90k` where nothing is reordered. */
  get dts90k(): number {
    return this.#order.dts90k
  }

  /** True when a key frame just mapped must begin a new run: at the start, and once the camera's clock no longer fits. */
  get isRunDue(): boolean {
    return this.#isRunDue || this.#follower.isOff
  }

  /** Maps a continuous (unwrapped) timestamp of a frame that arrived at `arrivalMs`; see `pts90k`, `dts90k` and `wallMs`. */
  map(timestamp90k: number, arrivalMs: number): void {
    this.#timestamp90k = timestamp90k
    const isEarlier = timestamp90k <= this.#last90k
    const place90k = isEarlier ? this.#order.findPlace(timestamp90k + this.#shift90k - this.#zero90k) : undefined
    if (place90k === undefined && !Number.isNaN(this.#last90k)) this.#checkStep(timestamp90k, arrivalMs)
    if (!(timestamp90k <= this.#last90k)) this.#last90k = timestamp90k
    this.#lastArrivalMs = arrivalMs
    this.#follower.update(this.#axis90k / ticksPerMs, arrivalMs)
    this.pts90k = place90k ?? Math.max(this.#axis90k - this.#zero90k, this.#lastPts90k + 1)
    this.#lastPts90k = Math.max(this.#lastPts90k, this.pts90k)
    this.#order.place(this.pts90k)
    this.#setWall()
  }

  /**
   * Makes the frame last mapped the first of a new run, decoded at 0. Returns true when the wall clock was fitted anew, so that
   * whatever was aligned with it (sound) must be too.
   */
  beginRun(order: PictureOrder = inOrder): boolean {
    const isNewClock = this.isRunDue
    this.#last90k = this.#timestamp90k
    if (isNewClock) {
      this.#follower = new OffsetFollower()
      this.#shift90k = 0
      this.#strayShift90k = undefined
      this.#follower.update(this.#axis90k / ticksPerMs, this.#lastArrivalMs)
    }
    this.#isRunDue = false
    this.pts90k = this.#lastPts90k = this.#order.begin(order)
    this.#zero90k = this.#axis90k - this.pts90k
    this.#setWall()
    return isNewClock
  }

  /** Media milliseconds, which `offsetMs` refers to, of a place on the run's axis; and back. */
  toMediaMs(pts90k: number): number {
    return (pts90k + this.#zero90k) / ticksPerMs
  }

  toPts90k(mediaMs: number): number {
    return Math.round(mediaMs * ticksPerMs) - this.#zero90k
  }

  /** Wall clock minus media milliseconds. */
  get offsetMs(): number {
    return this.#follower.offsetMs
  }

  get #axis90k(): number {
    return this.#last90k + this.#shift90k
  }

  #checkStep(timestamp90k: number, arrivalMs: number): void {
    if (this.#strayShift90k !== undefined && this.#isBack(timestamp90k, arrivalMs, this.#strayShift90k)) return
    const step90k = timestamp90k - this.#last90k
    const arrivalStep90k = Math.max(0, Math.round((arrivalMs - this.#lastArrivalMs) * ticksPerMs))
    if (step90k > 0) {
      this.#reorderedInRow = 0
      // Ahead of its own arrival as well: frames that only catch up after a delay are not.
      const aheadMs = (timestamp90k + this.#shift90k) / ticksPerMs + this.#follower.offsetMs - arrivalMs
      if (step90k > arrivalStep90k + jumpTicks && aheadMs * ticksPerMs > jumpTicks)
        this.#jump(timestamp90k, arrivalStep90k, false)
      return
    }
    const isSmall = step90k > -jumpTicks
    if (isSmall && ++this.#reorderedInRow <= maxReordered) this.reorderedFrames++
    else this.#jump(timestamp90k, arrivalStep90k, isSmall)
  }

  /**
   * Looks at the frame after one that jumped. Some recorders stamp single frames hours away: then this one fits where the jump began, and
   * nothing has happened. Otherwise the camera's clock is another from now on.
   */
  #isBack(timestamp90k: number, arrivalMs: number, shift90k: number): boolean {
    this.#strayShift90k = undefined
    const axis90k = this.#axis90k
    const expected90k = axis90k + Math.max(0, arrivalMs - this.#lastArrivalMs) * ticksPerMs
    if (Math.abs(timestamp90k + shift90k - expected90k) > jumpTicks / 2) {
      this.#noteJump()
      return false
    }
    this.#shift90k = shift90k
    this.#last90k = axis90k - shift90k
    this.reorderedFrames++
    return true
  }

  /** `isProven`: more than one frame says so. */
  #jump(timestamp90k: number, arrivalStep90k: number, isProven: boolean): void {
    if (isProven) this.#noteJump()
    else this.#strayShift90k = this.#shift90k
    const step90k = Math.max(1, Math.min(arrivalStep90k, jumpTicks))
    this.#shift90k += this.#last90k + step90k - timestamp90k
    this.#last90k = timestamp90k
    this.#reorderedInRow = 0
  }

  #noteJump(): void {
    this.#isRunDue = true
    this.jumps++
  }

  #setWall(): void {
    this.wallMs = Math.max(this.wallMs, Math.round(this.toMediaMs(this.#lastPts90k) + this.#follower.offsetMs))
  }
}

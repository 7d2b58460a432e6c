// A camera's 90 kHz timestamps -> times on the run's axis and on the wall.
//
// Within a run both only go forwards, but for pictures that the stream itself reorders. When the camera's clock jumps,
// time is not bent: the axis is continued at the pace of arrival until the next key frame, and there a new run is due.
// A single frame stamped far away is no jump. When the camera's clock passes at another rate than time does
// (clock-rate.ts), its steps are multiplied by that rate, so that the run lasts as long as it took. Docs and figures:
// docs/design/camera-time.md.

import type { PictureOrder } from '../../media/frame.ts'
import { ClockRate } from './clock-rate.ts'
import { DecodeOrder } from './decode-order.ts'
import { OffsetFollower } from './offset-follower.ts'

const ticksPerMs = 90
const jumpTicks = 2000 * ticksPerMs
/** Reordered pictures step back for a few frames at most; more in a row is a clock set back by a little. */
const maxReordered = 16
/**
 * No picture is taken after it arrives, so the wall clock is never further ahead of arrival than this, however wrong
 * the camera's clock is.
 */
const maxAheadMs = 120
/** A timestamp that is further from the time it arrives at, by what is known of the clock, is of another clock. */
const strangeMs = 10_000
/** An offset that is wrong by seconds may be a rate that is about to be measured. */
const offMs = 1500
/**
 * When the rate turns out to be wrong, the error so far is made up for at this share of the pace. The wall clock is
 * right at once, and playlists are dated by it: an axis that catches up in a hurry leaves it again.
 */
const makeUpShare = { behind: 0.25, ahead: 0.5 }
/**
 * A rate that was just measured may still be refuted, as when an encoder is slow to start. During this time no picture
 * is shown for more than `mostCautious` times as long as it is stamped; the rest is made up for later.
 */
const cautiousMs = 1500
const mostCautious = 3
/** An axis that is ahead is held back by no more than this share of the step to the next picture. */
const mostHeld = 0.8
const unevenMs = 8000

const inOrder: PictureOrder = { depth: 0, maxDepth: 0, frameRate: undefined }

export class WallClock {
  /** Of the frame last mapped: ticks since the run began, and Unix milliseconds. */
  pts90k = 0
  wallMs = 0
  /** Timestamps that did not increase and were moved behind the one before. */
  reorderedFrames = 0
  /** Times the camera's clock jumped. */
  jumps = 0
  /** Frames whose place on the axis was measured, because the camera's clock passes at a wrong rate. */
  retimedFrames = 0
  #follower = new OffsetFollower()
  readonly #rate: ClockRate
  #isRunDue = true
  #isRetimed = false
  /** Since when the offset has been wrong by seconds; NaN while it is not. */
  #offSinceMs = Number.NaN
  /**
   * The greatest timestamp so far, and its place in media time: timestamps at their measured rate, continued over
   * jumps.
   */
  #last90k = Number.NaN
  #media90k = 0
  /** What was added to media time to make up for a wrong rate, and what is still to be added. */
  #given90k = 0
  #owed90k = 0
  #cautiousUntilMs = 0
  #zero90k = 0
  #lastPts90k = 0
  /** Of the frame last mapped. */
  #timestamp90k = Number.NaN
  readonly #order = new DecodeOrder()
  #lastArrivalMs = 0
  #reorderedInRow = 0
  #canReorder = false
  #recent: { readonly timestamp90k: number; readonly pts90k: number }[] = []
  /**
   * Timestamp and media time before the frame that jumped, until the next one has shown whether that was a single
   * stray.
   */
  #beforeStray: { readonly last90k: number; readonly media90k: number } | undefined

  /**
   * `floorMs`: where an earlier clock of this camera ended; the wall clock does not go behind it. `rate`: what was
   * learned earlier.
   */
  constructor(floorMs = 0, rate = 1) {
    this.wallMs = floorMs
    this.#rate = new ClockRate(rate)
    this.#isRetimed = rate !== 1
  }

  /**
   * When the frame last mapped is decoded, on the run's axis: increases strictly, and is `pts90k` where nothing is
   * reordered.
   */
  get dts90k(): number {
    return this.#order.dts90k
  }

  /**
   * True when a key frame just mapped must begin a new run: at the start, and once the camera's clock no longer fits.
   */
  get isRunDue(): boolean {
    return this.#isRunDue || this.#lastArrivalMs - this.#offSinceMs >= offMs
  }

  /**
   * True for a timestamp whose time would be found from its arrival: the clock is not known yet, or it is another one.
   */
  isNew(timestamp90k: number, arrivalMs: number): boolean {
    if (this.#isRunDue || Number.isNaN(this.#last90k)) return true
    const wallMs = this.#findMedia90k(timestamp90k) / ticksPerMs + this.#follower.offsetMs
    return Math.abs(wallMs - arrivalMs) > strangeMs
  }

  /** Real time per time by the camera's clock; exactly 1 while that clock is trusted. */
  get rate(): number {
    return this.#rate.rate
  }

  /** True when the axis no longer follows the camera's timestamps, so that its reports about them do not apply. */
  get isRetimed(): boolean {
    return this.#isRetimed
  }

  /**
   * Maps a continuous (unwrapped) timestamp of a frame that arrived at `arrivalMs`; see `pts90k`, `dts90k` and
   * `wallMs`.
   */
  map(timestamp90k: number, arrivalMs: number): void {
    this.#timestamp90k = timestamp90k
    const isEarlier = timestamp90k <= this.#last90k
    const place90k = isEarlier ? this.#order.findPlace(this.#findBetween(timestamp90k)) : undefined
    if (place90k === undefined && !Number.isNaN(this.#last90k)) this.#checkStep(timestamp90k, arrivalMs)
    if (Number.isNaN(this.#last90k)) this.#last90k = this.#media90k = timestamp90k
    if (timestamp90k > this.#last90k) this.#advance(timestamp90k)
    this.#lastArrivalMs = arrivalMs
    this.#follow(arrivalMs)
    if (this.rate !== 1) this.#holdAxis(arrivalMs)
    this.pts90k = place90k ?? Math.max(Math.round(this.#axis90k - this.#zero90k), this.#lastPts90k + 1)
    this.#lastPts90k = Math.max(this.#lastPts90k, this.pts90k)
    this.#order.place(this.pts90k)
    this.#remember(timestamp90k)
    this.#setWall()
  }

  /**
   * Makes the frame last mapped the first of a new run, decoded at 0. Returns true when the wall clock was fitted anew,
   * so that whatever was aligned with it (audio) must be too.
   */
  beginRun(order: PictureOrder = inOrder): boolean {
    const isNewClock = this.isRunDue
    const behind90k = this.#media90k - this.#findMedia90k(this.#timestamp90k)
    this.#last90k = this.#timestamp90k
    this.#media90k -= behind90k
    if (isNewClock) {
      this.#media90k = this.#timestamp90k
      this.#given90k = 0
      this.#owed90k = 0
      this.#beforeStray = undefined
      this.#follower = new OffsetFollower()
      this.#offSinceMs = Number.NaN
      this.#rate.restart()
      this.#isRetimed = this.rate !== 1
      this.#follow(this.#lastArrivalMs)
    }
    this.#isRunDue = false
    this.pts90k = this.#lastPts90k = this.#order.begin(order)
    this.#canReorder = order.maxDepth > 0
    this.#recent = []
    this.#remember(this.#timestamp90k)
    this.#zero90k = this.#axis90k - this.pts90k
    this.#setWall()
    return isNewClock
  }

  /** Media milliseconds, which `offsetMs` refers to, of a place on the run's axis; and back. */
  toMediaMs(pts90k: number): number {
    return (pts90k + this.#zero90k) / ticksPerMs
  }

  toPts90k(mediaMs: number): number {
    return Math.round(mediaMs * ticksPerMs - this.#zero90k)
  }

  /** Wall clock minus media milliseconds. */
  get offsetMs(): number {
    return this.#follower.offsetMs - this.#given90k / ticksPerMs
  }

  get #axis90k(): number {
    return this.#media90k + this.#given90k
  }

  /** The media time of a timestamp that continues the last one. */
  #findMedia90k(timestamp90k: number): number {
    return this.#media90k + (timestamp90k - this.#last90k) * this.rate
  }

  #findPts90k(timestamp90k: number): number {
    return Math.round(this.#findMedia90k(timestamp90k) + this.#given90k - this.#zero90k)
  }

  /**
   * The place of a picture that is shown before one that came earlier: between its neighbours, wherever these were
   * moved to.
   */
  #findBetween(timestamp90k: number): number {
    const later = this.#recent.findIndex((each) => each.timestamp90k > timestamp90k)
    const [before, after] = [this.#recent[later - 1], this.#recent[later]]
    if (!before || !after) return this.#findPts90k(timestamp90k)
    const share = (timestamp90k - before.timestamp90k) / (after.timestamp90k - before.timestamp90k)
    return Math.round(before.pts90k + share * (after.pts90k - before.pts90k))
  }

  /** Keeps the newest pictures of a stream that reorders them, in the order of showing. */
  #remember(timestamp90k: number): void {
    if (!this.#canReorder) return
    const recent = this.#recent
    let at = recent.length
    while (at > 0 && recent[at - 1]!.timestamp90k > timestamp90k) at--
    recent.splice(at, 0, { timestamp90k, pts90k: this.pts90k })
    if (recent.length > maxReordered) recent.shift()
  }

  #advance(timestamp90k: number): void {
    const media90k = this.#findMedia90k(timestamp90k)
    const before90k = this.#given90k
    if (this.#owed90k !== 0) {
      const limit90k = (media90k - this.#media90k) * makeUpShare[this.#owed90k > 0 ? 'behind' : 'ahead']
      const given90k = Math.max(-limit90k, Math.min(limit90k, this.#owed90k))
      this.#given90k += given90k
      this.#owed90k -= given90k
    }
    if (this.#lastArrivalMs < this.#cautiousUntilMs) {
      const step90k = media90k - this.#media90k + this.#given90k - before90k
      const over90k = Math.max(0, step90k - mostCautious * (timestamp90k - this.#last90k))
      this.#given90k -= over90k
      this.#owed90k += over90k
    }
    if (this.rate !== 1) this.retimedFrames++
    this.#media90k = media90k
    this.#last90k = timestamp90k
  }

  /**
   * Adjusts the wall clock and the rate to arrivals. At a measured rate the axis is moved by as much as the wall clock,
   * little by little.
   */
  #follow(arrivalMs: number): void {
    const follower = this.#follower
    const mediaMs = this.#media90k / ticksPerMs
    const beforeMs = follower.offsetMs
    const isMeasured = this.rate !== 1
    follower.update(mediaMs, arrivalMs, isMeasured)
    if (isMeasured && follower.ageMs > 0) this.#owed90k += (follower.offsetMs - beforeMs) * ticksPerMs
    // Encoders that reorder pictures send their first ones unevenly.
    const isEarly = this.#canReorder && follower.ageMs < unevenMs
    const errorMs = isEarly ? 0 : this.#rate.update(mediaMs, arrivalMs, follower.offsetMs)
    if (errorMs !== 0) {
      follower.moveTo(follower.offsetMs + errorMs)
      this.#owed90k += errorMs * ticksPerMs
      this.#isRetimed = true
      this.#cautiousUntilMs = arrivalMs + cautiousMs
    }
    if (!follower.isOff) this.#offSinceMs = Number.NaN
    else if (Number.isNaN(this.#offSinceMs)) this.#offSinceMs = arrivalMs
  }

  /**
   * A rate that has become too large takes the axis ahead of arrival, as far as the wall clock is not taken: it is held
   * back, and makes up for it later. It never stands still, or several pictures would be shown in no time.
   */
  #holdAxis(arrivalMs: number): void {
    const aheadMs = this.#media90k / ticksPerMs + this.#follower.offsetMs - arrivalMs - maxAheadMs
    const step90k = this.#axis90k - this.#zero90k - this.#lastPts90k
    const over90k = Math.min(aheadMs * ticksPerMs - this.#owed90k, step90k * mostHeld)
    if (aheadMs <= 0 || over90k <= 0) return
    this.#given90k -= over90k
    this.#owed90k += over90k
  }

  #checkStep(timestamp90k: number, arrivalMs: number): void {
    if (this.#beforeStray !== undefined && this.#isBack(timestamp90k, arrivalMs, this.#beforeStray)) return
    const step90k = this.#findMedia90k(timestamp90k) - this.#media90k
    const arrivalStep90k = Math.max(0, Math.round((arrivalMs - this.#lastArrivalMs) * ticksPerMs))
    if (step90k > 0) {
      this.#reorderedInRow = 0
      // Ahead of its own arrival as well: frames that only catch up after a delay are not.
      const aheadMs = (this.#media90k + step90k) / ticksPerMs + this.#follower.offsetMs - arrivalMs
      if (step90k > arrivalStep90k + jumpTicks && aheadMs * ticksPerMs > jumpTicks)
        this.#jump(timestamp90k, arrivalStep90k, false)
      return
    }
    const isSmall = step90k > -jumpTicks
    if (isSmall && ++this.#reorderedInRow <= maxReordered) this.reorderedFrames++
    else this.#jump(timestamp90k, arrivalStep90k, isSmall)
  }

  /**
   * Looks at the frame after one that jumped. Some recorders stamp single frames hours away: then this one fits where
   * the jump began, and nothing has happened. Otherwise the camera's clock is another from now on.
   */
  #isBack(
    timestamp90k: number,
    arrivalMs: number,
    { last90k, media90k }: { readonly last90k: number; readonly media90k: number },
  ): boolean {
    this.#beforeStray = undefined
    const expected90k = this.#media90k + Math.max(0, arrivalMs - this.#lastArrivalMs) * ticksPerMs
    if (Math.abs(media90k + (timestamp90k - last90k) * this.rate - expected90k) > jumpTicks / 2) {
      this.#noteJump()
      return false
    }
    this.#last90k = last90k + (this.#media90k - media90k) / this.rate
    this.reorderedFrames++
    return true
  }

  /** `isProven`: more than one frame says so. */
  #jump(timestamp90k: number, arrivalStep90k: number, isProven: boolean): void {
    if (isProven) this.#noteJump()
    else this.#beforeStray = { last90k: this.#last90k, media90k: this.#media90k }
    this.#recent = []
    this.#media90k += Math.max(1, Math.min(arrivalStep90k, jumpTicks))
    this.#last90k = timestamp90k
    this.#reorderedInRow = 0
  }

  #noteJump(): void {
    this.#isRunDue = true
    this.jumps++
    this.#rate.restart()
  }

  #setWall(): void {
    const wallMs = this.toMediaMs(this.#lastPts90k) + this.offsetMs
    this.wallMs = Math.max(this.wallMs, Math.round(Math.min(wallMs, this.#lastArrivalMs + maxAheadMs)))
  }
}

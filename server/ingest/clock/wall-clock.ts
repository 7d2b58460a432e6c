// Maps the 90 kHz timestamps of a camera to times on the axis of a run and to wall-clock times.
//
// Within a run both times only increase, except for frames that the stream itself reorders. When the camera's clock
// jumps, the axis continues at the rate of arrival until the next key frame, where a new run is due. A single frame
// with a distant timestamp is not treated as a jump. If the camera's clock runs at a wrong rate (clock-rate.ts), its
// steps are multiplied by the measured rate, so that the run lasts as long as it took in real time. Explanation and
// figures: docs/design/camera-time.md.

import type { PictureOrder } from '../../media/frame.ts'
import { ClockRate } from './clock-rate.ts'
import { DecodeOrder } from './decode-order.ts'
import { OffsetFollower } from './offset-follower.ts'

const ticksPerMs = 90
const jumpTicks = 2000 * ticksPerMs
/**
 * A smaller jump ahead is one if the step is also out of proportion to the one before: a camera whose clock runs too fast
 * makes the same step each time.
 */
const smallJumpTicks = 300 * ticksPerMs
const unusualSteps = 2
/** Where frames are reordered, the step is a frame at a key frame and several frames elsewhere: the largest recent one counts. */
const unevenShare = 0.8
/** Frames that come in another order than that of their timestamps are off by less. */
const leastBackTicks = 200 * ticksPerMs
/** Before, the first frames may simply have been late. Those of a backlog are held for as long (frame-backlog.ts). */
const knownMs = 150
/**
 * Reordered frames step back for a few frames at most. More in a row mean that the camera's clock was set back
 * slightly.
 */
const maxReordered = 16
/**
 * A frame is never captured after it arrives. Therefore the wall clock is never further ahead of arrival than this,
 * even if the camera's clock is wrong.
 */
const maxAheadMs = 120
/** A timestamp whose expected time is ahead of its arrival by more than this belongs to another clock. */
const foreignClockMs = 10_000
/** An offset that is wrong by seconds may be due to a wrong rate that is about to be measured. */
const offMs = 1500
/**
 * If the rate turns out to be wrong, the axis makes up for the accumulated error by this share of the time that passes.
 * The wall clock is corrected at once and playlists are dated by it, so an axis that catches up too fast would deviate
 * from it again.
 */
const correctionShare = 0.25
/**
 * A new rate may still be refuted, for example if an encoder started slowly. During this time no frame is displayed for
 * more than `maxStretch` times as long as its timestamps say. The rest is made up for later.
 */
const cautiousMs = 1500
const maxStretch = 3
/** An axis that is ahead is held back by at most this share of the step to the next frame. */
const maxHoldShare = 0.8
const unevenMs = 8000

const inOrder: PictureOrder = { depth: 0, maxDepth: 0, frameRate: undefined }

export class WallClock {
  /** Times of the last mapped frame: ticks since the run began, and Unix milliseconds. */
  pts90k = 0
  wallMs = 0
  /** Number of timestamps that did not increase and were moved behind the previous one. */
  reorderedFrames = 0
  /** Number of times the camera's clock jumped. */
  jumps = 0
  /** Number of frames whose position on the axis was measured, because the camera's clock runs at a wrong rate. */
  retimedFrames = 0
  #follower = new OffsetFollower()
  readonly #rate: ClockRate
  #isRunDue = true
  /** The time since which the offset has been wrong by seconds; NaN while it is right. */
  #offSinceMs = Number.NaN
  /**
   * The greatest timestamp so far, and the media time that belongs to it: timestamps at their measured rate, continued
   * across jumps.
   */
  #last90k = Number.NaN
  #media90k = 0
  /** How far the next frame is moved behind the last one at least. */
  #leastStep90k = 1
  /** How far the last timestamp was ahead of the ones before. */
  #step90k = Number.POSITIVE_INFINITY
  /** The correction added to media time for a wrong rate, and the part of it that is still to be added. */
  #applied90k = 0
  #pending90k = 0
  #cautiousUntilMs = 0
  #zero90k = 0
  #lastPts90k = 0
  /** Timestamp of the last mapped frame. */
  #timestamp90k = Number.NaN
  readonly #order = new DecodeOrder()
  #lastArrivalMs = 0
  /** The last frames were read some time after they arrived. */
  #hasWaited = false
  #reorderedInRow = 0
  #canReorder = false
  #recent: { readonly timestamp90k: number; readonly pts90k: number }[] = []
  /**
   * Timestamp and media time before a frame that jumped. They are kept until the next frame shows whether the jump was
   * a single stray frame.
   */
  #beforeStray: { readonly last90k: number; readonly media90k: number } | undefined

  /**
   * `floorMs`: where an earlier clock of this camera ended; the wall clock does not go back behind it. `rate`: the rate
   * learned from earlier connections.
   */
  constructor(floorMs = 0, rate = 1) {
    this.wallMs = floorMs
    this.#rate = new ClockRate(rate)
  }

  /**
   * Decode time of the last mapped frame on the axis of the run. It increases strictly and equals `pts90k` if nothing
   * is reordered.
   */
  get dts90k(): number {
    return this.#order.dts90k
  }

  /**
   * True when a key frame that was just mapped must begin a new run: at the start, and when the camera's clock no
   * longer fits.
   */
  get isRunDue(): boolean {
    return this.#isRunDue || this.#lastArrivalMs - this.#offSinceMs >= offMs
  }

  /**
   * True for a timestamp whose time would be derived from its arrival, because the clock is not known yet or is a
   * different one. A frame is of the known clock, however late it arrives, if it was taken after the last one.
   */
  isNew(timestamp90k: number, arrivalMs: number): boolean {
    return this.#isRunDue || this.isForeign(timestamp90k, arrivalMs)
  }

  /** True for a timestamp that does not continue the last one, or has none before it. */
  isForeign(timestamp90k: number, arrivalMs: number): boolean {
    if (Number.isNaN(this.#last90k)) return true
    const media90k = this.#findMedia90k(timestamp90k)
    const aheadMs = media90k / ticksPerMs + this.#follower.offsetMs - arrivalMs
    return media90k < this.#media90k - jumpTicks || aheadMs > foreignClockMs
  }

  /** Real time per time on the camera's clock; exactly 1 while that clock is trusted. */
  get rate(): number {
    return this.#rate.rate
  }

  /**
   * How far the axis is ahead of the camera's timestamps, in media milliseconds: other than 0 after they had a wrong rate.
   * Undefined while it does not follow them, so that the camera's reports about them do not apply: while they have a wrong
   * rate, and from a jump to the next run.
   */
  get aheadMs(): number | undefined {
    if (this.rate !== 1 || this.#isRunDue || this.#beforeStray !== undefined) return undefined
    return (this.#axis90k - this.#last90k) / ticksPerMs
  }

  /**
   * Maps a continuous (unwrapped) timestamp of a frame that arrived at `arrivalMs`. Sets `pts90k`, `dts90k` and
   * `wallMs`. `hasWaited`: the frame was read some time after it arrived, so it says nothing about a known clock.
   */
  map(timestamp90k: number, arrivalMs: number, hasWaited = false): void {
    const isKnown = hasWaited && !this.isNew(timestamp90k, arrivalMs)
    const before90k = this.#timestamp90k
    this.#timestamp90k = timestamp90k
    const isEarlier = timestamp90k <= this.#last90k
    const place90k = isEarlier ? this.#order.findPlace(this.#findBetween(timestamp90k)) : undefined
    if (place90k === undefined && !Number.isNaN(this.#last90k)) {
      this.#checkStep(timestamp90k, arrivalMs, before90k, hasWaited)
    }
    if (Number.isNaN(this.#last90k)) this.#last90k = this.#media90k = timestamp90k
    if (timestamp90k > this.#last90k) this.#advance(timestamp90k)
    this.#lastArrivalMs = arrivalMs
    if (isKnown) this.#hasWaited = true
    // A frame that was moved says nothing about the clock either, nor does one that is displayed before an earlier one: an
    // encoder sends it when it can, while media time stands still.
    else if (this.#leastStep90k === 1 && place90k === undefined) {
      if (this.#hasWaited) this.#follower.forgetDelays()
      this.#hasWaited = false
      this.#follow(arrivalMs)
    }
    if (this.rate !== 1) this.#holdAxis(arrivalMs)
    this.pts90k = place90k ?? Math.max(Math.round(this.#axis90k - this.#zero90k), this.#lastPts90k + this.#leastStep90k)
    this.#leastStep90k = 1
    this.#lastPts90k = Math.max(this.#lastPts90k, this.pts90k)
    this.#order.place(this.pts90k)
    this.#remember(timestamp90k)
    this.#setWall()
  }

  /**
   * Makes the last mapped frame the first one of a new run, with decode time 0. Returns true if the wall clock was
   * fitted anew. In this case the audio must be aligned anew as well.
   */
  beginRun(order: PictureOrder = inOrder): boolean {
    const behind90k = this.#media90k - this.#findMedia90k(this.#timestamp90k)
    // Whether this frame jumped alone or with those after it is not known yet. A run that trusted the axis could be wrong by
    // the whole pause before it.
    if (this.#beforeStray !== undefined) this.#noteJump()
    // Frames that step back were not enough yet to tell that the clock was set back. A key frame is not one of them.
    const moved90k = this.#shown90k - this.#findMedia90k(this.#timestamp90k)
    if (moved90k > leastBackTicks && !this.#canReorder) this.#noteJump()
    const isNewClock = this.isRunDue
    this.#last90k = this.#timestamp90k
    this.#media90k -= behind90k
    if (isNewClock) {
      this.#media90k = this.#timestamp90k
      this.#applied90k = 0
      this.#pending90k = 0
      this.#beforeStray = undefined
      this.#follower = new OffsetFollower()
      this.#offSinceMs = Number.NaN
      this.#rate.restart()
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

  /** Converts a position on the axis of the run to media milliseconds, which `offsetMs` refers to. */
  toMediaMs(pts90k: number): number {
    return (pts90k + this.#zero90k) / ticksPerMs
  }

  toPts90k(mediaMs: number): number {
    return Math.round(mediaMs * ticksPerMs - this.#zero90k)
  }

  /** Wall-clock time minus media time, in milliseconds. */
  get offsetMs(): number {
    return this.#follower.offsetMs - this.#applied90k / ticksPerMs
  }

  get #axis90k(): number {
    return this.#media90k + this.#applied90k
  }

  /** The media time of the last frame, where it was moved to. */
  get #shown90k(): number {
    return this.#lastPts90k + this.#zero90k - this.#applied90k
  }

  /** The media time of a timestamp that continues the last one. */
  #findMedia90k(timestamp90k: number): number {
    return this.#media90k + (timestamp90k - this.#last90k) * this.rate
  }

  #findPts90k(timestamp90k: number): number {
    return Math.round(this.#findMedia90k(timestamp90k) + this.#applied90k - this.#zero90k)
  }

  /**
   * Finds the presentation time of a frame that is displayed before one that arrived earlier. It lies between its
   * neighbors, even if they were moved.
   */
  #findBetween(timestamp90k: number): number {
    const later = this.#recent.findIndex((each) => each.timestamp90k > timestamp90k)
    const [before, after] = [this.#recent[later - 1], this.#recent[later]]
    if (!before || !after) return this.#findPts90k(timestamp90k)
    const share = (timestamp90k - before.timestamp90k) / (after.timestamp90k - before.timestamp90k)
    return Math.round(before.pts90k + share * (after.pts90k - before.pts90k))
  }

  /** Keeps the newest frames of a stream that reorders frames, in display order. */
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
    const before90k = this.#applied90k
    if (this.#pending90k !== 0) {
      const limit90k = (media90k - this.#media90k) * correctionShare
      const applied90k = Math.max(-limit90k, Math.min(limit90k, this.#pending90k))
      this.#applied90k += applied90k
      this.#pending90k -= applied90k
    }
    if (this.#lastArrivalMs < this.#cautiousUntilMs) {
      const step90k = media90k - this.#media90k + this.#applied90k - before90k
      const over90k = Math.max(0, step90k - maxStretch * (timestamp90k - this.#last90k))
      this.#applied90k -= over90k
      this.#pending90k += over90k
    }
    if (this.rate !== 1) this.retimedFrames++
    this.#media90k = media90k
    this.#last90k = timestamp90k
  }

  /**
   * Adjusts the wall clock and the rate to the arrival times. At a measured rate the axis is gradually moved by the
   * same amount as the wall clock.
   */
  #follow(arrivalMs: number): void {
    const follower = this.#follower
    const mediaMs = this.#media90k / ticksPerMs
    const beforeMs = follower.offsetMs
    const isMeasured = this.rate !== 1
    follower.update(mediaMs, arrivalMs, isMeasured)
    if (isMeasured && follower.ageMs > 0) this.#pending90k += (follower.offsetMs - beforeMs) * ticksPerMs
    // Encoders that reorder frames send the first ones unevenly.
    const isEarly = this.#canReorder && follower.ageMs < unevenMs
    const errorMs = isEarly ? 0 : this.#rate.update(mediaMs, arrivalMs, follower.offsetMs)
    if (errorMs !== 0) {
      follower.moveTo(follower.offsetMs + errorMs)
      this.#pending90k += errorMs * ticksPerMs
      this.#cautiousUntilMs = arrivalMs + cautiousMs
    }
    if (!follower.isOff) this.#offSinceMs = Number.NaN
    else if (Number.isNaN(this.#offSinceMs)) this.#offSinceMs = arrivalMs
  }

  /**
   * Holds the axis back if it runs ahead of arrival by more than the wall clock may, because the rate has become too
   * large. The axis makes up for it later. It never stops, because several frames would then have the same time.
   */
  #holdAxis(arrivalMs: number): void {
    const aheadMs = this.#media90k / ticksPerMs + this.#follower.offsetMs - arrivalMs - maxAheadMs
    const step90k = this.#axis90k - this.#zero90k - this.#lastPts90k
    const over90k = Math.min(aheadMs * ticksPerMs - this.#pending90k, step90k * maxHoldShare)
    if (aheadMs <= 0 || over90k <= 0) return
    this.#applied90k -= over90k
    this.#pending90k += over90k
  }

  /** `before90k`: the timestamp of the frame that arrived before. */
  #checkStep(timestamp90k: number, arrivalMs: number, before90k: number, hasWaited: boolean): void {
    if (this.#beforeStray !== undefined && this.#isBack(timestamp90k, arrivalMs, this.#beforeStray)) return
    const step90k = this.#findMedia90k(timestamp90k) - this.#media90k
    const arrivalStep90k = Math.max(0, Math.round((arrivalMs - this.#lastArrivalMs) * ticksPerMs))
    // For frames that have waited, only their timestamps tell how much time has passed.
    const ownStep90k = hasWaited ? (timestamp90k - before90k) * this.rate : 0
    const passed90k = ownStep90k < jumpTicks ? Math.max(arrivalStep90k, ownStep90k) : arrivalStep90k
    if (step90k > 0) {
      if (this.#reorderedInRow > 0 && this.#continues(timestamp90k, before90k, passed90k)) {
        this.#jump(timestamp90k, passed90k, { isProven: true, hasWaited })
        return
      }
      this.#reorderedInRow = 0
      const isTrusted = this.rate === 1 && this.#follower.ageMs > knownMs
      // By the timestamps, because a rate that is too large or was too small makes an ordinary step long.
      const stamped90k = timestamp90k - this.#last90k
      const isUnusual = isTrusted && stamped90k > unusualSteps * this.#step90k
      const leastTicks = isUnusual ? smallJumpTicks : jumpTicks
      const isUneven = this.#canReorder && Number.isFinite(this.#step90k)
      this.#step90k = Math.max(stamped90k, isUneven ? this.#step90k * unevenShare : 0)
      // Frames that only catch up after a delay are not ahead of their own arrival.
      const aheadMs = (this.#media90k + step90k) / ticksPerMs + this.#follower.offsetMs - arrivalMs
      if (Math.min(step90k, stamped90k) > arrivalStep90k + leastTicks && aheadMs * ticksPerMs > leastTicks)
        this.#jump(timestamp90k, arrivalStep90k, { isProven: false, hasWaited })
      return
    }
    const isSmall = step90k > -jumpTicks
    if (isSmall && ++this.#reorderedInRow <= maxReordered) {
      this.reorderedFrames++
      // Time passes nevertheless; the timestamps that follow are converted as before.
      if (!this.#canReorder) this.#leastStep90k = Math.max(1, Math.min(passed90k, jumpTicks))
    } else this.#jump(timestamp90k, arrivalStep90k, { isProven: isSmall, hasWaited })
  }

  /**
   * True if a timestamp continues those that stepped back, rather than those before them: the camera's clock was set back
   * by so little that it has already made up for it.
   */
  #continues(timestamp90k: number, before90k: number, passed90k: number): boolean {
    if (this.#canReorder) return false
    const expected90k = this.#shown90k + passed90k
    const error90k = Math.abs(this.#findMedia90k(timestamp90k) - expected90k)
    const errorAfter90k = Math.abs((timestamp90k - before90k) * this.rate - passed90k)
    return error90k > leastBackTicks && errorAfter90k < error90k
  }

  /**
   * Examines the frame after one that jumped. Some recorders send single frames with timestamps that are hours off. In
   * this case the next frame continues from before the jump, and the method returns true. Otherwise the camera's clock
   * has really changed.
   */
  #isBack(
    timestamp90k: number,
    arrivalMs: number,
    { last90k, media90k }: { readonly last90k: number; readonly media90k: number },
  ): boolean {
    this.#beforeStray = undefined
    const expected90k = this.#media90k + Math.max(0, arrivalMs - this.#lastArrivalMs) * ticksPerMs
    const errorBefore90k = Math.abs(media90k + (timestamp90k - last90k) * this.rate - expected90k)
    const errorAfter90k = Math.abs(this.#findMedia90k(timestamp90k) - expected90k)
    if (errorBefore90k > jumpTicks / 2 || errorBefore90k > errorAfter90k) {
      this.#noteJump()
      return false
    }
    this.#last90k = last90k + (this.#media90k - media90k) / this.rate
    this.reorderedFrames++
    return true
  }

  /**
   * `isProven`: more than one frame confirms the jump. What has waited was taken at some time of the pause in which it
   * arrived; otherwise, what the network held up would begin with a frame that continues the last one.
   */
  #jump(
    timestamp90k: number,
    arrivalStep90k: number,
    { isProven, hasWaited }: { readonly isProven: boolean; readonly hasWaited: boolean },
  ): void {
    if (isProven) this.#noteJump()
    else this.#beforeStray = { last90k: this.#last90k, media90k: this.#media90k }
    this.#recent = []
    if (isProven) this.#media90k = Math.max(this.#media90k, this.#shown90k)
    this.#media90k += Math.max(1, hasWaited ? Math.min(arrivalStep90k, jumpTicks) : arrivalStep90k)
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

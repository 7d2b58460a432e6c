// Computes when the frames of a bare stream, which has no timestamps, are displayed. Frames that are displayed in the
// order of their arrival get their time of arrival. If the stream reorders frames (B-frames), their picture order
// counts place them on a clock with a constant rate, as a camera's own timestamps would. WallClock corrects that rate
// by arrival, as it does for any camera.

import { type OrderedPicture, PictureOrderReader } from '../../media/nal/picture-order-reader.ts'

const defaultFrameRate = 25
/**
 * Until this much time has passed since the first frame, the arrival times say nothing about the rate, because servers
 * first send what they have buffered.
 */
const minMeasured90k = 2 * 90_000

export class BareTimes {
  readonly #reader: PictureOrderReader
  #frames = 0
  #first90k = Number.NaN
  #arrival90k = Number.NaN
  /** The latest time so far. */
  #max90k = Number.NEGATIVE_INFINITY
  #isReordered = false
  #hasSteppedBack = false
  #lastCount = Number.NEGATIVE_INFINITY

  /** The last key frame. The times of the frames after it are relative to its time. */
  #anchorCount = 0
  #anchor90k = 0
  #frame90k = 90_000 / defaultFrameRate
  /** The difference of the picture order counts of consecutive frames in display order. */
  #step: number
  #sinceAnchor = 0
  #maxCount = 0
  #minCount = 0
  /** The number of frames that follow a key frame which resets the count, and are displayed before it. */
  #leading = 0

  constructor(codec: 'h264' | 'h265') {
    this.#reader = new PictureOrderReader(codec)
    // H.264 counts fields.
    this.#step = codec === 'h264' ? 2 : 1
  }

  /** Takes parameter sets that come before the stream. */
  takeSets(units: readonly Uint8Array[]): void {
    this.#reader.take(units)
  }

  /**
   * Takes the NAL units of the next access unit, which arrived at `arrival90k`. Returns its presentation time on the
   * same clock.
   */
  take(units: readonly Uint8Array[], arrival90k: number): number {
    const ordered = this.#reader.take(units)
    if (this.#frames++ === 0) this.#first90k = arrival90k
    this.#arrival90k = arrival90k
    if (ordered) this.#noteOrder(ordered)
    const at90k = ordered && this.#isReordered ? this.#place(ordered) : Math.max(this.#max90k + 1, arrival90k)
    this.#max90k = Math.max(this.#max90k, at90k)
    return at90k
  }

  #noteOrder({ count, isReset, isKey }: OrderedPicture): void {
    if (!isReset && count < this.#lastCount) this.#hasSteppedBack = true
    this.#lastCount = count
    if (this.#isReordered || !isKey) return
    const { depth, maxDepth } = this.#reader.order!
    this.#isReordered = (depth ?? 0) > 0 || (this.#hasSteppedBack && maxDepth > 0)
    if (!this.#isReordered) return
    this.#setRate()
    this.#setAnchor(count, Math.max(this.#max90k + this.#frame90k, this.#arrival90k))
  }

  #place({ count, isReset, isKey }: OrderedPicture): number {
    if (isReset && this.#sinceAnchor > 0) {
      this.#leading = Math.round(Math.max(0, this.#anchorCount - this.#minCount) / this.#step)
      this.#learnStep((this.#maxCount - this.#minCount) / (this.#sinceAnchor - 1))
      this.#setRate()
      this.#setAnchor(count, this.#max90k + Math.round((1 + this.#leading) * this.#frame90k))
    } else if (isKey && this.#sinceAnchor > 0) {
      const at90k = this.#timeOf(count)
      this.#learnStep((count - this.#anchorCount) / this.#sinceAnchor)
      this.#setRate()
      this.#setAnchor(count, at90k)
    }
    this.#sinceAnchor++
    this.#maxCount = Math.max(this.#maxCount, count)
    this.#minCount = Math.min(this.#minCount, count)
    return this.#timeOf(count)
  }

  #timeOf(count: number): number {
    return this.#anchor90k + Math.round(((count - this.#anchorCount) / this.#step) * this.#frame90k)
  }

  #setAnchor(count: number, at90k: number): void {
    this.#anchorCount = count
    this.#anchor90k = Math.round(at90k)
    this.#sinceAnchor = 0
    this.#maxCount = count
    this.#minCount = count
  }

  #learnStep(step: number): void {
    const whole = Math.round(step)
    if (whole >= 1 && whole <= 16 && Math.abs(step - whole) < 0.1) this.#step = whole
  }

  /** Uses the frame rate that the stream declares, or otherwise the one measured by arrival. */
  #setRate(): void {
    const declared = this.#reader.order?.frameRate
    const measured90k = this.#arrival90k - this.#first90k
    if (declared !== undefined) this.#frame90k = 90_000 / declared
    else if (measured90k >= minMeasured90k) this.#frame90k = measured90k / (this.#frames - 1)
  }
}

// A camera's audio timestamps -> times on the axis of the video's run.
//
// Audio and picture have unrelated timestamps, and often unrelated crystals. They are aligned by the RTP-Info of the
// answer to PLAY where it makes sense, else by arrival; after that the difference of their drifts, as seen in arrival,
// is followed, and where the camera sends reports of both, what they say.

import { OffsetFollower } from './offset-follower.ts'
import type { WallClock } from './wall-clock.ts'

/** While the two offsets still settle, their difference says nothing about drift. */
const settleMs = 20_000
/** An RTP-Info that disagrees with arrival by more is wrong: several makers send one of another session. */
const maxDisagreementMs = 2000
/** Two reports in a row that agree are believed; cameras that send nonsense do not repeat it. */
const sameMs = 50
/** Audio is moved to where reports have it by so much of the time that passes: nobody hears it. */
const reportSlew = 0.05

export class AudioClock {
  pts90k = Number.NEGATIVE_INFINITY
  wallMs = 0
  readonly #video: WallClock
  #follower = new OffsetFollower()
  /** Audio minus video media time at the same moment, told by the camera; undefined when not known. */
  #toldMs: number | undefined
  /** What the camera told minus what arrival says: how much later than pictures the camera sends its audio. */
  #correctionMs = 0
  /** As `#toldMs`, by the last report; and what is believed of reports. */
  #lastReportedMs: number | undefined
  #reportedMs: number | undefined
  #lastAudioMs = 0

  constructor(video: WallClock) {
    this.#video = video
  }

  /**
   * RTP-Info: the moment that is `audioMs` in audio is `videoMs` in pictures, in media milliseconds. Before the first
   * `map`.
   */
  alignTo(audioMs: number, videoMs: number): void {
    this.#toldMs = audioMs - videoMs
  }

  /** Sender reports of both streams, again and again: as `alignTo`, at any time. */
  follow(audioMs: number, videoMs: number): void {
    const reportedMs = audioMs - videoMs
    const isSame = this.#lastReportedMs !== undefined && Math.abs(reportedMs - this.#lastReportedMs) < sameMs
    this.#lastReportedMs = reportedMs
    this.#reportedMs = isSame ? reportedMs : undefined
  }

  /**
   * A new run began. `isNewClock`: the video's clock was fitted anew, so the timestamps the camera told of no longer
   * hold; how late it sends its audio still does.
   */
  beginRun(isNewClock: boolean): void {
    this.pts90k = Number.NEGATIVE_INFINITY
    if (!isNewClock) return
    this.#follower = new OffsetFollower()
    this.#toldMs = undefined
    this.#lastReportedMs = undefined
    this.#reportedMs = undefined
  }

  /**
   * Maps the media time of a block that arrived at `arrivalMs`. False when it lies before the run: not to be published.
   */
  map(audioMs: number, arrivalMs: number): boolean {
    const byArrivalMs = audioMs + this.#follower.update(audioMs, arrivalMs) - this.#video.offsetMs
    const pts90k = this.#video.toPts90k(byArrivalMs + this.#correct(audioMs, byArrivalMs))
    if (pts90k < 0) return false
    this.pts90k = Math.max(pts90k, this.pts90k + 1)
    const wallMs = this.#video.toMediaMs(this.pts90k) + this.#video.offsetMs
    this.wallMs = Math.max(this.wallMs, Math.round(wallMs))
    return true
  }

  #correct(audioMs: number, byArrivalMs: number): number {
    // Neither what the camera told of its video timestamps nor its reports fit an axis that they do not make.
    if (this.#video.isRetimed) {
      this.#toldMs = undefined
      this.#reportedMs = undefined
    }
    const stepMs = Math.max(0, audioMs - this.#lastAudioMs)
    this.#lastAudioMs = audioMs
    if (this.#reportedMs !== undefined) {
      const errorMs = audioMs - this.#reportedMs - byArrivalMs - this.#correctionMs
      const limitMs = stepMs * reportSlew
      const isSense = Math.abs(errorMs + this.#correctionMs) < maxDisagreementMs
      if (isSense) this.#correctionMs += Math.max(-limitMs, Math.min(limitMs, errorMs))
      if (isSense) return this.#correctionMs
    }
    if (this.#toldMs === undefined) return this.#correctionMs
    const correctionMs = audioMs - this.#toldMs - byArrivalMs
    if (Math.abs(correctionMs) < maxDisagreementMs) this.#correctionMs = correctionMs
    if (this.#correctionMs !== correctionMs || this.#follower.ageMs > settleMs) this.#toldMs = undefined
    return this.#correctionMs
  }
}

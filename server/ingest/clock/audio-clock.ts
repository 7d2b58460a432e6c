// Maps the audio timestamps of a camera to the time axis of the video's run.
//
// Audio and video have unrelated timestamps and often different crystals. They are first aligned by the RTP-Info header
// of the response to PLAY if it is plausible, and by arrival time otherwise. Afterwards the clock follows the
// difference of their drifts, as seen in the arrival times, and the sender reports of the camera if it sends reports
// for both streams.

import { OffsetFollower } from './offset-follower.ts'
import type { WallClock } from './wall-clock.ts'

/** As long as the two offsets settle, their difference says nothing about drift. */
const settleMs = 20_000
/**
 * An RTP-Info that differs from the arrival times by more than this is wrong. Some cameras send the one of another
 * session.
 */
const maxDisagreementMs = 2000
/**
 * If the video's timestamps had a wrong rate for a while, a camera that left out frames without leaving out their timestamps
 * may name the positions of before. What was measured in between is wrong by less than this.
 */
const maxRetimedMs = 300
/** Two consecutive reports must agree this closely. Cameras that send wrong reports do not repeat the same error. */
const sameMs = 50
/** Audio is shifted towards the reported position by at most this share of the elapsed time, which is inaudible. */
const reportSlew = 0.05

export class AudioClock {
  pts90k = Number.NEGATIVE_INFINITY
  wallMs = 0
  readonly #video: WallClock
  #follower = new OffsetFollower()
  /** Audio minus video media time of the same moment as RTP-Info gives it; undefined when unknown. */
  #rtpInfoMs: number | undefined
  /**
   * The reported difference minus the one seen in arrival times: how much later than video the camera sends its audio.
   */
  #correctionMs = 0
  /** Like `#rtpInfoMs`, but from the last sender report, and from two reports that agree. */
  #lastReportedMs: number | undefined
  #reportedMs: number | undefined
  #lastAudioMs = 0

  constructor(video: WallClock) {
    this.#video = video
  }

  /**
   * Takes an RTP-Info: the media times `audioMs` of the audio and `videoMs` of the video are the same moment. Must be
   * called before the first `map`.
   */
  alignTo(audioMs: number, videoMs: number): void {
    this.#rtpInfoMs = audioMs - videoMs
  }

  /** Takes the sender reports of both streams. Like `alignTo`, but may be called at any time. */
  follow(audioMs: number, videoMs: number): void {
    const reportedMs = audioMs - videoMs
    const isSame = this.#lastReportedMs !== undefined && Math.abs(reportedMs - this.#lastReportedMs) < sameMs
    this.#lastReportedMs = reportedMs
    this.#reportedMs = isSame ? reportedMs : undefined
  }

  /**
   * Begins a new run. `isNewClock`: the video's clock was fitted anew, so that earlier reports about timestamps are no
   * longer valid. The measured delay of the audio remains valid.
   */
  beginRun(isNewClock: boolean): void {
    this.pts90k = Number.NEGATIVE_INFINITY
    if (!isNewClock) return
    this.#follower = new OffsetFollower()
    this.#rtpInfoMs = undefined
    this.#lastReportedMs = undefined
    this.#reportedMs = undefined
  }

  /**
   * Maps the media time of a block that arrived at `arrivalMs`. Returns false if it lies before the run and must not be
   * published.
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
    const stepMs = Math.max(0, audioMs - this.#lastAudioMs)
    this.#lastAudioMs = audioMs
    // RTP-Info and reports describe the camera's own timestamps.
    const { aheadMs } = this.#video
    if (aheadMs === undefined) return this.#correctionMs
    const placeMs = audioMs + aheadMs - byArrivalMs
    const isPlausible = (correctionMs: number) =>
      aheadMs === 0
        ? Math.abs(correctionMs) < maxDisagreementMs
        : Math.abs(correctionMs - this.#correctionMs) < maxRetimedMs
    if (this.#reportedMs !== undefined) {
      const correctionMs = placeMs - this.#reportedMs
      const limitMs = stepMs * reportSlew
      if (isPlausible(correctionMs)) {
        const errorMs = correctionMs - this.#correctionMs
        this.#correctionMs += Math.max(-limitMs, Math.min(limitMs, errorMs))
        return this.#correctionMs
      }
    }
    if (this.#rtpInfoMs === undefined) return this.#correctionMs
    const correctionMs = placeMs - this.#rtpInfoMs
    if (isPlausible(correctionMs)) this.#correctionMs = correctionMs
    if (this.#correctionMs !== correctionMs || this.#follower.ageMs > settleMs) this.#rtpInfoMs = undefined
    return this.#correctionMs
  }
}

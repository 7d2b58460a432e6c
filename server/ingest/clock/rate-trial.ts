// Tests a newly measured rate against the previous one.
//
// The network only adds to a delay. If the delays have risen, a single frame refutes the new rate if its delay is
// closer to the smallest delay before the change than to the prediction of the new rate. If the delays have fallen, the
// new rate is refuted by an interval in which no frame is as early as predicted. Until then the wall clock is ahead of
// the correct time by at most one and a half times the delay of the current frame. A camera that was slow and has
// recovered sends a frame that looks the same. The frames after it distinguish the two cases: frames that the network
// delayed arrive in quick succession and are soon as early as before, while the frames of a camera that has recovered
// keep the delay that they have by then.

/**
 * When the predictions of the two rates are this far apart, the new rate is proven, because no network stall lasts as
 * long.
 */
const provenMs = 3000
/** A measured rate may be too large by half. */
const minShare = 2 / 3
const slackMs = 20
/** On a jittery network, an interval may have no frame on time within this many times the jitter. */
const noiseShare = 2.5
/** After this time the camera's rate may have drifted. */
const maxTrialMs = 60_000
const intervalMs = 800
const minFrames = 4
/**
 * The delay of a frame that the network held up is smaller than that of the previous frame by at least this share of
 * the time between them.
 */
const heldUpShare = 0.4

export class RateTrial {
  isOn = false
  formerRate = 1
  /** Media time at the former rate, its smallest delay, and where the prediction of the new rate begins. */
  #formerMediaMs = 0
  #floorMs = 0
  #mediaMs = 0
  #lineMs = 0
  #lastDelayMs = 0
  #isRise = false
  /** For falling delays: where the prediction began, the jitter of intervals, and the current interval. */
  #beginMs = 0
  #noiseMs = 0
  #minMs = 0
  #frames = 0
  #isOver = false
  #endMs = 0
  #trialEndMs = 0

  /**
   * Begins a trial of the rate `to`. `offsetMs` was the expected delay at the rate `from`, and `lineMs` is the new one.
   * If a trial is already in progress, the rate to return to stays the same.
   */
  begin(
    rates: { readonly from: number; readonly to: number },
    now: { readonly mediaMs: number; readonly arrivalMs: number; readonly offsetMs: number },
    lineMs: number,
    noiseMs: number,
  ): void {
    if (!this.isOn) {
      this.formerRate = rates.from
      this.#formerMediaMs = now.mediaMs
      this.#floorMs = now.offsetMs
      this.#trialEndMs = now.arrivalMs + maxTrialMs
    } else if (this.#isRise && rates.to < rates.from) {
      // The rise was not refuted, so frames have been permanently later since then.
      this.#floorMs = now.mediaMs + lineMs - this.#formerMediaMs
    }
    this.#lastDelayMs = now.arrivalMs - this.#formerMediaMs
    this.isOn = rates.to !== this.formerRate
    this.#isRise = rates.to > this.formerRate
    this.#mediaMs = now.mediaMs
    this.#lineMs = lineMs
    this.#noiseMs = noiseMs
    this.#beginMs = now.mediaMs + lineMs - this.#formerMediaMs
    this.#floorMs = Math.min(this.#floorMs, now.arrivalMs - this.#formerMediaMs)
    this.#beginInterval(now.arrivalMs)
  }

  end(): void {
    this.isOn = false
  }

  /** Takes a frame of media time `mediaMs`, measured at `rate`. Returns true if it refutes that rate. */
  update(mediaMs: number, arrivalMs: number, rate: number): boolean {
    const stepMs = ((mediaMs - this.#mediaMs) * this.formerRate) / rate
    this.#formerMediaMs += stepMs
    this.#mediaMs = mediaMs
    const delayMs = arrivalMs - this.#formerMediaMs
    const isHeldUp = delayMs < this.#lastDelayMs - stepMs * heldUpShare
    this.#lastDelayMs = delayMs
    const isRefuted = this.#isRise ? this.#refutesRise(delayMs, arrivalMs) : this.#refutesFall(delayMs, arrivalMs)
    this.#floorMs = Math.min(this.#floorMs, delayMs)
    if (isRefuted && !isHeldUp) this.#floorMs = delayMs
    if (arrivalMs > this.#trialEndMs) this.isOn = false
    return isRefuted
  }

  /** The expected delay at the former rate for the media time of the last frame. */
  get formerOffsetMs(): number {
    return this.#floorMs + this.#formerMediaMs - this.#mediaMs
  }

  /** The smallest delay that the new rate predicts, at the former rate. */
  get #predictedMs(): number {
    return this.#mediaMs + this.#lineMs - this.#formerMediaMs
  }

  #refutesRise(delayMs: number, arrivalMs: number): boolean {
    const leadMs = this.#predictedMs - this.#floorMs
    if (delayMs - this.#floorMs < leadMs * minShare - slackMs) return true
    if (this.#endsInterval(delayMs, arrivalMs)) this.isOn = leadMs < provenMs
    return false
  }

  #refutesFall(delayMs: number, arrivalMs: number): boolean {
    const leadMs = this.#predictedMs - this.#beginMs
    const marginMs = slackMs + noiseShare * this.#noiseMs
    // Each frame is compared with its own predicted delay. Close to the beginning the two rates do not differ enough.
    if (-leadMs * minShare < marginMs) return false
    if (!this.#endsInterval(delayMs - this.#beginMs - leadMs * minShare, arrivalMs)) return false
    if (this.#minMs > marginMs) return true
    this.isOn = leadMs > -provenMs
    return false
  }

  /** An interval is longer than frames that were held up take to arrive, so that one of its frames is on time. */
  #endsInterval(delayMs: number, arrivalMs: number): boolean {
    if (this.#isOver) this.#beginInterval(arrivalMs)
    this.#minMs = Math.min(this.#minMs, delayMs)
    this.#isOver = ++this.#frames >= minFrames && arrivalMs >= this.#endMs
    return this.#isOver
  }

  #beginInterval(arrivalMs: number): void {
    this.#minMs = Number.POSITIVE_INFINITY
    this.#frames = 0
    this.#isOver = false
    this.#endMs = arrivalMs + intervalMs
  }
}

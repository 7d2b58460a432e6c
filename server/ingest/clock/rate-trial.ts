// A rate that has just been measured, on trial against the one before.
//
// The network only adds to a delay. So a rise of delays that was taken for a rate is refuted by a single picture that
// is nearer to the smallest delay from before than to the line that the new rate predicts; a fall, by a stretch in
// which no picture is as early as predicted. Until then the wall clock is ahead of the truth by at most one and a half
// times what the picture at hand was delayed. The same picture can come of a camera that was slow and is not any more.
// What was held up comes in quick succession, and is soon as early as before; otherwise pictures stay as late as they
// are by then.

/** The lines are this far apart when the new rate is proven: no stall of the network lasts as long. */
const provenMs = 3000
/** A measured rate may be too large by half. */
const leastShare = 2 / 3
const slackMs = 20
/** A stretch of a jittery network may have no picture on time, by so many times the jitter. */
const noiseShare = 2.5
/** Later than that the camera's rate may have drifted. */
const maxTrialMs = 60_000
const stretchMs = 800
const fewPictures = 4
/**
 * Of a picture that was held up, the delay is smaller than that of the one before it, by this share of the time between
 * them.
 */
const heldUpShare = 0.4

export class RateTrial {
  isOn = false
  formerRate = 1
  /** Media time at the former rate, its smallest delay, and where the new rate's line begins. */
  #formerMediaMs = 0
  #floorMs = 0
  #mediaMs = 0
  #lineMs = 0
  #lastDelayMs = 0
  #isRise = false
  /** Of falls: where the line began, the jitter of stretches, and the stretch in progress. */
  #beginMs = 0
  #noiseMs = 0
  #leastMs = 0
  #pictures = 0
  #isOver = false
  #endMs = 0
  #trialEndMs = 0

  /**
   * `offsetMs` was the expected delay at `rate`; it is `lineMs` from now on. While a trial is on, its former rate stays
   * the one to return to.
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
      // The rise was not refuted, so that pictures have been later for good since then.
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
    this.#beginStretch(now.arrivalMs)
  }

  end(): void {
    this.isOn = false
  }

  /** A picture of media time `mediaMs`, which has passed at `rate`. Returns true when it refutes that rate. */
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

  /** What the expected delay is at the former rate, of the media time given last. */
  get formerOffsetMs(): number {
    return this.#floorMs + this.#formerMediaMs - this.#mediaMs
  }

  /** What the new rate predicts as the smallest delay, at the former rate. */
  get #predictedMs(): number {
    return this.#mediaMs + this.#lineMs - this.#formerMediaMs
  }

  #refutesRise(delayMs: number, arrivalMs: number): boolean {
    const leadMs = this.#predictedMs - this.#floorMs
    if (delayMs - this.#floorMs < leadMs * leastShare - slackMs) return true
    if (this.#endsStretch(delayMs, arrivalMs)) this.isOn = leadMs < provenMs
    return false
  }

  #refutesFall(delayMs: number, arrivalMs: number): boolean {
    const leadMs = this.#predictedMs - this.#beginMs
    const marginMs = slackMs + noiseShare * this.#noiseMs
    // Each picture against its own place on the line; near its beginning nothing can be told.
    if (-leadMs * leastShare < marginMs) return false
    if (!this.#endsStretch(delayMs - this.#beginMs - leadMs * leastShare, arrivalMs)) return false
    if (this.#leastMs > marginMs) return true
    this.isOn = leadMs > -provenMs
    return false
  }

  /** A stretch is longer than what was held up takes to come, so that one of its pictures is on time. */
  #endsStretch(delayMs: number, arrivalMs: number): boolean {
    if (this.#isOver) this.#beginStretch(arrivalMs)
    this.#leastMs = Math.min(this.#leastMs, delayMs)
    this.#isOver = ++this.#pictures >= fewPictures && arrivalMs >= this.#endMs
    return this.#isOver
  }

  #beginStretch(arrivalMs: number): void {
    this.#leastMs = Number.POSITIVE_INFINITY
    this.#pictures = 0
    this.#isOver = false
    this.#endMs = arrivalMs + stretchMs
  }
}

// Measures how fast the timestamps of a camera really pass, as real time per time on the camera's clock.
//
// Many cameras stamp their frames at the nominal frame rate although they send fewer or more, for example at night. The
// delay of such frames (arrival time minus media time) grows or shrinks steadily, while the network only adds to it for
// a while. Therefore the smallest delay of each tenth of a second is kept, and the smallest of each two, four, … of
// these. A rate is wrong if the minima of three consecutive intervals, which are between a tenth of a second and
// several seconds long, differ by about the same amount. A rate that is far off is noticed within half a second, and
// one that is off by a third of a percent within twenty seconds. Movements of the minima that were reversed recently
// are noise, and a trend must be several times larger. The frames that follow may still refute a new rate
// (rate-trial.ts). Explanation and figures: docs/design/camera-time.md.

import { RateTrial } from './rate-trial.ts'

const bucketMs = 100

/** The smallest change of the delay over two intervals that counts, by level. The interval doubles with each level. */
const minChangeMs = [90, 100, 100, 100, 80, 60, 40]

/**
 * The intervals of lower levels count only if the delay differs from the expected one, because jitter resembles a trend
 * for a moment.
 */
const longLevel = 4
const slackMs = 30

/** A trend is noticed before frames are later than this. A greater delay is due to consecutive network stalls. */
const maxErrorMs = 800

/**
 * If the delays within a tenth of a second fall by more than this share of the change, the change is a series of stalls
 * and not a trend.
 */
const maxFallShare = 0.35

/** Delays also shrink while the network works off a backlog, but those frames are still late. */
const onTimeMs = 15

/**
 * The lowest level at which falling delays count. They hardly move the wall clock, which is never ahead of arrival, so
 * there is time for more measurements.
 */
const fallLevel = 1

/** Each of the two changes between three intervals must be at least this share of the whole change. */
const minShare = 0.25

/**
 * Jitter goes up and down again. `spreadMs` is the greatest recent movement of the minima of a level that was reversed.
 * A trend must be this many times larger.
 */
const spreadShare = 3.5
const maxSpreadMs = [300, 300, 300, 200, 100, 50, 20]
const spreadHalfLifeMs = 60_000
const minNoted = 8

/**
 * Detects a sudden change from two consecutive frames, each later than the previous one by at least `suddenMs` and by
 * about the same amount, after a frame that was on time. It applies to timestamps that are at least `farApartMs` apart,
 * because waiting for a third frame would take too long. The end of a stall delays a single frame by up to the distance
 * between frames, so the two frames must be later than that. On a network with more noise than `quietMs` this pattern
 * occurs by chance.
 */
const suddenMs = 150
const farApartMs = 90
const overStep = 1.2
const evenShare = 0.4
const quietMs = 60

/**
 * This many consecutive steps by the same share of media time are not a series of stalls, even if the frames are very
 * late by then.
 */
const sustainedSteps = 4
const sustainedInNoise = 8
const minSlope = 0.1
const slopeShare = 0.3

/** The wall clock follows a smaller error without retiming any frames. */
const tolerance = 0.0015

const maxRate = 40

/**
 * The smallest of several delays. `fallMs`: how much greater the first delay in the same tenth of a second was. It is
 * large after a stall, when delayed frames arrive all at once.
 */
type Point = { delayMs: number; fallMs: number; arrivalMs: number; mediaMs: number }
type Now = { readonly mediaMs: number; readonly arrivalMs: number; readonly offsetMs: number }
type Level = {
  count: number
  readonly first: Point
  readonly second: Point
  readonly third: Point
  readonly half: Point
  hasHalf: boolean
  noted: number
  /** The current movement, and the size of the previous one in the other direction. */
  swingMs: number
  formerSwingMs: number
  spreadMs: number
  readonly decay: number
}

export class ClockRate {
  readonly #levels: Level[] = minChangeMs.map((_, i) => ({
    count: 0,
    first: createPoint(),
    second: createPoint(),
    third: createPoint(),
    half: createPoint(),
    hasHalf: false,
    noted: 0,
    swingMs: 0,
    formerSwingMs: 0,
    spreadMs: 0,
    decay: 0.5 ** ((bucketMs * 2 ** i) / spreadHalfLifeMs),
  }))
  readonly #open = createPoint()
  #openedMs = Number.NaN
  #openDelayMs = 0
  /** How much later frames became in the last two tenths of a second, as a share of media time. */
  #slope = 0
  #evenSteps = 0
  #rate: number
  readonly #trial = new RateTrial()

  /** `rate`: the rate learned from earlier connections. */
  constructor(rate = 1) {
    this.#rate = rate
  }

  /** Exactly 1 while the camera's clock is trusted. */
  get rate(): number {
    return this.#rate
  }

  /** Forgets the delays but not the rate, because the frames that follow are on another time axis. */
  restart(): void {
    this.#trial.end()
    this.#forget()
  }

  /**
   * Takes a frame of media time `mediaMs`, measured at the current `rate`, that arrived at `arrivalMs`. `offsetMs` is
   * the expected delay. Returns the milliseconds to add to the expected delay if `rate` has just changed, and 0
   * otherwise.
   */
  update(mediaMs: number, arrivalMs: number, offsetMs: number): number {
    const delayMs = arrivalMs - mediaMs
    const open = this.#open
    let errorMs = 0
    if (this.#trial.isOn && this.#trial.update(mediaMs, arrivalMs, this.#rate)) {
      this.#rate = this.#trial.formerRate
      errorMs = this.#trial.formerOffsetMs - offsetMs
      this.restart()
    }
    if (!(arrivalMs - this.#openedMs < bucketMs)) {
      if (!Number.isNaN(this.#openedMs)) {
        const now = { mediaMs, arrivalMs, offsetMs }
        errorMs = this.#close(now) || this.#findSudden(now)
      }
      if (errorMs !== 0) this.#forget()
      this.#openedMs = arrivalMs
      open.delayMs = Number.POSITIVE_INFINITY
      this.#openDelayMs = delayMs
    }
    if (delayMs < open.delayMs) {
      open.delayMs = delayMs
      open.fallMs = this.#openDelayMs - delayMs
      open.arrivalMs = arrivalMs
      open.mediaMs = mediaMs
    }
    return errorMs
  }

  #forget(): void {
    this.#openedMs = Number.NaN
    this.#evenSteps = 0
    for (const level of this.#levels) {
      level.count = 0
      level.hasHalf = false
    }
  }

  #close(now: Now): number {
    let point = this.#open
    let noiseMs = 0
    for (let i = 0; i < this.#levels.length; i++) {
      const level = this.#levels[i]!
      if (level.count < 3) level.count++
      copyPoint(level.first, level.second)
      copyPoint(level.second, level.third)
      copyPoint(level.third, point)
      noteSpread(level, maxSpreadMs[i]!)
      if (i === 0 && this.#isSustained(level)) return this.#change(level, level.spreadMs, now)
      // The minima of longer intervals are at least as steady, so the noise of shorter ones is used until there is
      // enough data.
      noiseMs = level.noted < minNoted ? Math.max(noiseMs, level.spreadMs) : level.spreadMs
      if (level.count === 3 && this.#isTrend(level, i, spreadShare * noiseMs, now))
        return this.#change(level, noiseMs, now)
      level.hasHalf = !level.hasHalf
      if (level.hasHalf) {
        copyPoint(level.half, level.third)
        return 0
      }
      const fallMs = Math.max(level.half.fallMs, level.third.fallMs)
      if (level.third.delayMs < level.half.delayMs) copyPoint(level.half, level.third)
      level.half.fallMs = fallMs
      point = level.half
    }
    return 0
  }

  /**
   * Returns false at the beginning, when the noise is unknown, because an encoder that starts slowly shows the same
   * pattern.
   */
  #isSustained({ count, second, third, noted, spreadMs }: Level): boolean {
    const slope = count < 2 ? 0 : (third.delayMs - second.delayMs) / Math.max(1, third.mediaMs - second.mediaMs)
    const isEven = slope > minSlope && Math.abs(slope - this.#slope) <= slopeShare * Math.max(slope, this.#slope)
    this.#evenSteps = isEven ? this.#evenSteps + 1 : 0
    this.#slope = slope
    return (
      noted >= minNoted &&
      this.#evenSteps >= (spreadMs <= quietMs ? sustainedSteps : sustainedInNoise) &&
      third.fallMs <= onTimeMs
    )
  }

  /** The frame that has just arrived is not part of the minima yet. */
  #findSudden(now: Now): number {
    const level = this.#levels[0]!
    const { second: first, third: second, noted, spreadMs } = level
    if (level.count < 3 || noted < minNoted || spreadMs > quietMs || this.#trial.isOn) return 0
    const { arrivalMs, mediaMs } = now
    const delayMs = arrivalMs - mediaMs
    const changeMs = delayMs - first.delayMs
    const stepMs = mediaMs - first.mediaMs
    if (stepMs < 2 * farApartMs || changeMs < Math.max(2 * suddenMs, overStep * stepMs)) return 0
    if (!isEven((second.delayMs - first.delayMs) / changeMs) || !isEven((second.mediaMs - first.mediaMs) / stepMs))
      return 0
    if (first.delayMs - now.offsetMs > slackMs || second.fallMs > 0) return 0
    return this.#change({ first, third: { delayMs, fallMs: 0, arrivalMs, mediaMs } }, spreadMs, now)
  }

  #isTrend({ first, second, third }: Level, index: number, noiseMs: number, now: Now): boolean {
    const changeMs = third.delayMs - first.delayMs
    const minMs = Math.max(minChangeMs[index]!, noiseMs)
    if (Math.abs(changeMs) < minMs) return false
    const share = (second.delayMs - first.delayMs) / changeMs
    if (share < minShare || share > 1 - minShare) return false
    const errorMs = third.delayMs - now.offsetMs
    const isLong = index >= longLevel
    const maxFallMs = Math.max(first.fallMs, second.fallMs, third.fallMs)
    if (changeMs < 0) return isLong ? errorMs <= onTimeMs : index >= fallLevel && errorMs <= -minMs
    if (errorMs > maxErrorMs && this.#rate === 1 && !isLong && !isSparse(first, second, third)) return false
    // If the trend is real, the frame that has just arrived is later still.
    const continues = now.arrivalMs - now.mediaMs >= third.delayMs + (isLong ? 0 : (changeMs / 2) * minShare)
    return continues && (isLong || (errorMs >= minMs - slackMs && maxFallMs <= changeMs * maxFallShare))
  }

  #change({ first, third }: Pick<Level, 'first' | 'third'>, noiseMs: number, now: Now): number {
    const changeMs = third.delayMs - first.delayMs
    const mediaMs = Math.max(1, third.mediaMs - first.mediaMs)
    const from = this.#rate
    const rate = Math.min(maxRate, Math.max(1 / maxRate, from * (1 + changeMs / mediaMs)))
    this.#rate = Math.abs(rate - 1) < tolerance ? 1 : rate
    // Extrapolate by media time, because the network may have delayed this frame itself.
    const extrapolatedMs = third.delayMs + (changeMs / mediaMs) * (now.mediaMs - third.mediaMs)
    const lineMs = Math.min(now.arrivalMs - now.mediaMs, extrapolatedMs)
    this.#trial.begin({ from, to: this.#rate }, now, lineMs, noiseMs)
    return lineMs - now.offsetMs
  }
}

/**
 * True for single frames far apart of which each is later by about the same amount. Three of them are later than the
 * limit for stalls.
 */
function isSparse(first: Point, second: Point, third: Point): boolean {
  const isSingle = first.fallMs === 0 && second.fallMs === 0 && third.fallMs === 0
  const stepMs = second.mediaMs - first.mediaMs
  const changeMs = third.delayMs - first.delayMs
  return (
    isSingle &&
    stepMs >= farApartMs &&
    isEven(stepMs / (third.mediaMs - first.mediaMs)) &&
    isEven((second.delayMs - first.delayMs) / changeMs)
  )
}

/** `share`: the share of the first of two steps in their sum. */
function isEven(share: number): boolean {
  return share >= evenShare && share <= 1 - evenShare
}

/** Measures the movements of the minima of this level that were reversed. */
function noteSpread(level: Level, maxMs: number): void {
  level.spreadMs *= level.decay
  level.formerSwingMs *= level.decay
  if (level.count < 2) {
    level.swingMs = level.formerSwingMs = 0
    return
  }
  level.noted++
  const stepMs = level.third.delayMs - level.second.delayMs
  if (stepMs * level.swingMs < 0) {
    level.formerSwingMs = Math.abs(level.swingMs)
    level.swingMs = 0
  }
  level.swingMs += stepMs
  level.spreadMs = Math.max(level.spreadMs, Math.min(maxMs, Math.abs(level.swingMs), level.formerSwingMs))
}

function createPoint(): Point {
  return { delayMs: 0, fallMs: 0, arrivalMs: 0, mediaMs: 0 }
}

function copyPoint(to: Point, from: Point): void {
  to.delayMs = from.delayMs
  to.fallMs = from.fallMs
  to.arrivalMs = from.arrivalMs
  to.mediaMs = from.mediaMs
}

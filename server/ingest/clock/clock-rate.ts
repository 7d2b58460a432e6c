// How fast a camera's timestamps really pass: real time per time by the camera's clock.
//
// Many cameras stamp their pictures at the nominal frame rate while fewer or more of them come, at night for instance.
// The delay of such pictures (arrival minus media time) grows or shrinks steadily, where the network only ever adds to
// it for a while. So the smallest delay of each tenth of a second is kept, and the smallest of two, four, … of these: a
// rate is wrong when the minima of three stretches in a row, from a tenth of a second to some seconds long, differ by
// about the same amount. A rate that is very wrong is noticed within half a second, one that is wrong by a third of a
// percent within twenty. How far the minima went and came back lately is noise, which a trend must exceed several
// times; and the pictures that follow may refute it (rate-trial.ts). Docs and figures: docs/design/camera-time.md.

import { RateTrial } from './rate-trial.ts'

const bucketMs = 100

/** By length of the stretches, which doubles: how much the delay must have changed over two of them. */
const leastChangeMs = [90, 100, 100, 100, 80, 60, 40]

/**
 * Stretches shorter than this say something only when the delay has left the expected one: jitter looks like a trend
 * for a moment.
 */
const longLevel = 4
const slackMs = 30

/** A trend is noticed before pictures are later than this; stalls that follow each other are not. */
const maxErrorMs = 800

/**
 * When the delays inside a tenth of a second fall by more than this share of the change, it is no trend but a series of
 * stalls.
 */
const mostFallShare = 0.35

/** A backlog that the network works off shrinks too, but what arrives is still late. */
const onTimeMs = 15

/**
 * Delays that shrink hardly move the wall clock, which is never ahead of arrival: there is time to see more of them.
 */
const fallLevel = 1

/** Each of the two changes between three stretches must be at least this share of the whole change. */
const leastShare = 0.25

/**
 * Jitter goes up and down again: `spreadMs` is the greatest movement of the minima of this length that was taken back
 * lately. A trend must be so many times larger.
 */
const spreadShare = 3.5
const maxSpreadMs = [300, 300, 300, 200, 100, 50, 20]
const spreadHalfLifeMs = 60_000
const fewNoted = 8

/**
 * Two pictures in a row that are each so much later than the one before, by about the same time, after one that was on
 * time: pictures that are stamped far apart cannot wait for a third. The end of a stall makes one picture late by up to
 * that distance, so these are later; and on a network with more noise than this it happens by chance.
 */
const suddenMs = 150
const farApartMs = 90
const overStep = 1.2
const evenShare = 0.4
const quietMs = 60

/**
 * So many steps in a row by the same share of media time are no stalls that follow each other, however late pictures
 * are by then.
 */
const sustainedSteps = 4
const sustainedInNoise = 8
const leastSlope = 0.1
const slopeShare = 0.3

/** A smaller error is left to the wall clock, which follows it without retiming anything. */
const tolerance = 0.0015

const maxRate = 40

/**
 * The smallest of some delays. `fallMs`: how much greater the first delay in the same tenth of a second was, which is
 * large after a stall, whose pictures come all at once.
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
  /** The movement in progress, and the size of the one before it, which went the other way. */
  legMs: number
  formerLegMs: number
  spreadMs: number
  readonly decay: number
}

export class ClockRate {
  readonly #levels: Level[] = leastChangeMs.map((_, i) => ({
    count: 0,
    first: createPoint(),
    second: createPoint(),
    third: createPoint(),
    half: createPoint(),
    hasHalf: false,
    noted: 0,
    legMs: 0,
    formerLegMs: 0,
    spreadMs: 0,
    decay: 0.5 ** ((bucketMs * 2 ** i) / spreadHalfLifeMs),
  }))
  readonly #open = createPoint()
  #openedMs = Number.NaN
  #openDelayMs = 0
  /** Of the two last tenths of a second: how much later, by media time. */
  #slope = 0
  #evenSteps = 0
  #rate: number
  readonly #trial = new RateTrial()

  /** `rate`: as learned earlier. */
  constructor(rate = 1) {
    this.#rate = rate
  }

  /** Exactly 1 while the camera's clock is trusted. */
  get rate(): number {
    return this.#rate
  }

  /** Forgets the delays, not the rate: what follows is on another axis. */
  restart(): void {
    this.#trial.end()
    this.#forget()
  }

  /**
   * A picture of media time `mediaMs`, which has passed at `rate`, arrived at `arrivalMs`; `offsetMs` is the delay that
   * was expected. Returns what must be added to the expected delay because `rate` has just changed, in milliseconds;
   * else 0.
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
      // The minima of longer stretches are at least as steady: what is known of shorter ones will do at first.
      noiseMs = level.noted < fewNoted ? Math.max(noiseMs, level.spreadMs) : level.spreadMs
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

  /** Not at the beginning, when nothing is known of the noise: an encoder that is slow to start looks like that. */
  #isSustained({ count, second, third, noted, spreadMs }: Level): boolean {
    const slope = count < 2 ? 0 : (third.delayMs - second.delayMs) / Math.max(1, third.mediaMs - second.mediaMs)
    const isEven = slope > leastSlope && Math.abs(slope - this.#slope) <= slopeShare * Math.max(slope, this.#slope)
    this.#evenSteps = isEven ? this.#evenSteps + 1 : 0
    this.#slope = slope
    return (
      noted >= fewNoted &&
      this.#evenSteps >= (spreadMs <= quietMs ? sustainedSteps : sustainedInNoise) &&
      third.fallMs <= onTimeMs
    )
  }

  /** The picture that has just come is not in the minima yet. */
  #findSudden(now: Now): number {
    const level = this.#levels[0]!
    const { second: first, third: second, noted, spreadMs } = level
    if (level.count < 3 || noted < fewNoted || spreadMs > quietMs || this.#trial.isOn) return 0
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
    const leastMs = Math.max(leastChangeMs[index]!, noiseMs)
    if (Math.abs(changeMs) < leastMs) return false
    const share = (second.delayMs - first.delayMs) / changeMs
    if (share < leastShare || share > 1 - leastShare) return false
    const errorMs = third.delayMs - now.offsetMs
    const isLong = index >= longLevel
    const mostFallMs = Math.max(first.fallMs, second.fallMs, third.fallMs)
    if (changeMs < 0) return isLong ? errorMs <= onTimeMs : index >= fallLevel && errorMs <= -leastMs
    if (errorMs > maxErrorMs && this.#rate === 1 && !isLong && !isSparse(first, second, third)) return false
    // The picture that has just come is later still, if this goes on.
    const goesOn = now.arrivalMs - now.mediaMs >= third.delayMs + (isLong ? 0 : (changeMs / 2) * leastShare)
    return goesOn && (isLong || (errorMs >= leastMs - slackMs && mostFallMs <= changeMs * mostFallShare))
  }

  #change({ first, third }: Pick<Level, 'first' | 'third'>, noiseMs: number, now: Now): number {
    const changeMs = third.delayMs - first.delayMs
    const mediaMs = Math.max(1, third.mediaMs - first.mediaMs)
    const from = this.#rate
    const rate = Math.min(maxRate, Math.max(1 / maxRate, from * (1 + changeMs / mediaMs)))
    this.#rate = Math.abs(rate - 1) < tolerance ? 1 : rate
    // By media time: this picture itself may have been held up.
    const goneOnMs = third.delayMs + (changeMs / mediaMs) * (now.mediaMs - third.mediaMs)
    const lineMs = Math.min(now.arrivalMs - now.mediaMs, goneOnMs)
    this.#trial.begin({ from, to: this.#rate }, now, lineMs, noiseMs)
    return lineMs - now.offsetMs
  }
}

/**
 * Single pictures, stamped far apart, of which each is later by about the same: three of them are late by more than
 * stalls are looked at for.
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

/** Of two steps, the first one's share of both. */
function isEven(share: number): boolean {
  return share >= evenShare && share <= 1 - evenShare
}

/** How far the minima of this length go and come back. */
function noteSpread(level: Level, maxMs: number): void {
  level.spreadMs *= level.decay
  level.formerLegMs *= level.decay
  if (level.count < 2) {
    level.legMs = level.formerLegMs = 0
    return
  }
  level.noted++
  const stepMs = level.third.delayMs - level.second.delayMs
  if (stepMs * level.legMs < 0) {
    level.formerLegMs = Math.abs(level.legMs)
    level.legMs = 0
  }
  level.legMs += stepMs
  level.spreadMs = Math.max(level.spreadMs, Math.min(maxMs, Math.abs(level.legMs), level.formerLegMs))
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

// Keeps a live player close to the newest frame: how far behind it should be, and when to play a little faster, a little
// slower, or to jump.

export type EdgeStep = { readonly kind: 'rate'; readonly rate: number } | { readonly kind: 'jump' }

const leastSeconds = 0.08
const mostSeconds = 0.25
/** Of the stream, for interval and jitter. */
const rememberedMs = 10_000
const toleranceSeconds = 0.03
/** Where a correction ends, so that it does not begin again at once. */
const settledSeconds = 0.01
/** Further behind than wanted. */
const jumpFromSeconds = 0.9
/** Cameras that send a group of pictures at once, and lines that stand still again and again. */
const burstFromMs = 600
const burstsRememberedMs = 60_000
const minBursts = 3
const longestBurstMs = 15_000
const jumpEveryMs = 5_000
const changeEveryMs = 500
const fastest = { muted: 1.1, heard: 1.05 }
/** At the beginning, when the decoder came late to the newest frame. */
const fastestAtStart = { muted: 1.5, heard: 1.1 }
const slowest = 0.98
/** Where the speed stays as it is. At the beginning, nobody has seen anything that could be missed. */
const jumpFromAtOneSpeed = { start: 0.1, later: 0.6 }

type Arrival = { readonly atMs: number; readonly seconds: number }

export type LiveEdgeOptions = {
  /** The player takes what has arrived once in so many milliseconds. Default: at once. */
  readonly takesEveryMs?: number
  /** The player is interrupted by each change of speed, so it only jumps. */
  readonly hasOneSpeed?: boolean
}

/** Times of the stream are in seconds, those of the page in milliseconds of a clock that never steps. */
export class LiveEdge {
  readonly #takesEverySeconds: number
  readonly #hasOneSpeed: boolean
  #arrivals: Arrival[] = []
  /** Pauses after which frames came that had been taken meanwhile. */
  #pauses: { readonly atMs: number; readonly ms: number }[] = []
  #rate = 1
  #changedMs = Number.NEGATIVE_INFINITY
  #jumpedMs = Number.NEGATIVE_INFINITY
  /** Until the wanted distance is reached for the first time. */
  #isStarting = true

  constructor({ takesEveryMs = 0, hasOneSpeed = false }: LiveEdgeOptions = {}) {
    this.#takesEverySeconds = takesEveryMs / 1000
    this.#hasOneSpeed = hasOneSpeed
  }

  /** A frame arrived. Frames that arrived before the player caught up say nothing about the line: leave them out. */
  note(atMs: number, seconds: number): void {
    const ms = atMs - (this.#arrivals.at(-1)?.atMs ?? atMs)
    // A camera with few frames has pauses between them.
    if (ms > burstFromMs && ms < longestBurstMs && ms > 1500 * (this.intervalSeconds ?? Number.POSITIVE_INFINITY)) {
      this.#pauses.push({ atMs, ms })
    }
    while (this.#pauses[0] && this.#pauses[0].atMs < atMs - burstsRememberedMs) this.#pauses.shift()
    this.#arrivals.push({ atMs, seconds })
    while (this.#arrivals[0]!.atMs < atMs - rememberedMs) this.#arrivals.shift()
  }

  /** After an interruption of the stream. */
  reset(): void {
    this.#arrivals = []
    this.#rate = 1
    this.#isStarting = true
  }

  /** Distance between two frames of the stream; undefined if unknown. */
  get intervalSeconds(): number | undefined {
    const first = this.#arrivals[0]
    const last = this.#arrivals.at(-1)
    if (!first || !last || first === last) return undefined
    return (last.seconds - first.seconds) / (this.#arrivals.length - 1)
  }

  /** How far behind the newest frame to play: as much as frames come late, and one more. */
  get targetSeconds(): number {
    return this.#lineSeconds + this.#takesEverySeconds
  }

  get #lineSeconds(): number {
    if (this.#comesInBursts) {
      // One outage among them does not come again.
      const longestFirst = this.#pauses.map(({ ms }) => ms).sort((a, b) => b - a)
      return longestFirst[minBursts - 1]! / 1000 + leastSeconds
    }
    const interval = this.intervalSeconds
    if (interval === undefined) return (leastSeconds + mostSeconds) / 2
    const gaps = this.#arrivals
      .slice(1)
      .map(({ atMs }, i) => atMs - this.#arrivals[i]!.atMs)
      .sort((a, b) => a - b)
    const usual = gaps[Math.floor(gaps.length * 0.95)]! / 1000
    return Math.min(mostSeconds, Math.max(leastSeconds, interval + usual))
  }

  get #comesInBursts(): boolean {
    return this.#pauses.length >= minBursts
  }

  /** How far a position is behind the frame that the camera sends now. */
  behindSeconds(nowMs: number, position: number): number {
    const last = this.#arrivals.at(-1)
    if (!last) return 0
    // Between two frames, time goes on. A camera that is silent for longer sends nothing that could be missed.
    const longest = this.#comesInBursts ? this.targetSeconds : (this.intervalSeconds ?? 0)
    const since = Math.min((nowMs - last.atMs) / 1000, longest)
    return last.seconds + since - position
  }

  /** What to do at this position; undefined to go on as before. `isHeard`: changes of speed are kept inaudible. */
  decide(nowMs: number, position: number, isHeard: boolean): EdgeStep | undefined {
    const behind = this.behindSeconds(nowMs, position)
    const error = behind - this.targetSeconds
    const jumpFrom = this.#hasOneSpeed ? jumpFromAtOneSpeed[this.#isStarting ? 'start' : 'later'] : jumpFromSeconds
    if (error > jumpFrom && nowMs - this.#jumpedMs >= jumpEveryMs) {
      if (this.#hasOneSpeed) this.#isStarting = false
      this.#jumpedMs = nowMs
      this.#changedMs = nowMs
      this.#rate = 1
      return { kind: 'jump' }
    }
    if (this.#hasOneSpeed) {
      if (error <= toleranceSeconds) this.#isStarting = false
      return undefined
    }
    if (nowMs - this.#changedMs < changeEveryMs) return undefined
    const isSettled = Math.abs(error) <= (this.#rate === 1 ? toleranceSeconds : settledSeconds)
    const hasCrossed = (this.#rate > 1 && error < 0) || (this.#rate < 1 && error > 0)
    if (isSettled || hasCrossed) this.#isStarting = false
    const most = (this.#isStarting ? fastestAtStart : fastest)[isHeard ? 'heard' : 'muted']
    const wanted = error > 0 ? Math.min(most, 1.01 + (this.#isStarting ? error : error / 2)) : slowest
    const rate = isSettled || hasCrossed ? 1 : Math.round(wanted * 100) / 100
    if (rate === this.#rate) return undefined
    this.#changedMs = nowMs
    this.#rate = rate
    return { kind: 'rate', rate }
  }
}

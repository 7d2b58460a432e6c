// Stream statistics of one camera, computed from the counters that its worker sends every few seconds: rates over the
// last minute, losses over the last ten minutes.

import type { Clock } from '../base/clock.ts'
import type { Deviation } from '../base/deviation.ts'
import {
  addCounters,
  type CameraCounters,
  type CameraFigures,
  counterNames,
  findFrameLoss,
  findPacketLoss,
  judgeLoss,
  noCounters,
  subtractCounters,
} from '../model/camera-figures.ts'

/** What a worker has counted for a camera. */
export type CountersOfCamera = CameraCounters & {
  readonly cameraId: number
  /** As in `CameraFigures`. */
  readonly clockRate: number
  readonly deviations: ReadonlySet<Deviation>
}

export type LossReport = {
  readonly isLosing: boolean
  /** Shares over the last minute, from 0 to 1. */
  readonly packetLoss: number
  readonly frameLoss: number
}

export type CameraMeterOptions = {
  readonly clock: Clock
  /** Called every ten seconds while the loss is high, or low. */
  readonly onLoss: (report: LossReport) => void
}

const sampleMs = 10_000
const minuteMs = 60_000
const windowMs = 600_000
/** Without a frame for this long, there is no rate. */
const silentMs = 15_000

type Sample = { readonly atMs: number; readonly counters: CameraCounters }

type Counted = {
  readonly sinceMs: number
  /** Counters of the first report. The period they cover is unknown, so they are in no rate. */
  readonly first: CameraCounters
  /** Oldest first; none is older than the window. */
  readonly samples: Sample[]
}

export class CameraMeter {
  readonly #options: CameraMeterOptions
  /** Sums that earlier workers had counted before they crashed. */
  #base = noCounters
  #last = noCounters
  #clockRate = 1
  readonly #deviations = new Set<Deviation>()
  /** Monotonic time. */
  #lastFrameMs = Number.NEGATIVE_INFINITY
  #counted: Counted | undefined

  constructor(options: CameraMeterOptions) {
    this.#options = options
  }

  /** Sums since the server started. */
  get total(): CameraCounters {
    return addCounters(this.#base, this.#last)
  }

  get isLosing(): boolean {
    return this.#counted !== undefined && judgeLoss(this.#since(this.#counted, minuteMs)) === 'much'
  }

  /** Takes a worker's counters. A counter that decreased comes from a new worker. */
  take({ clockRate, deviations, ...counters }: Omit<CountersOfCamera, 'cameraId'>): void {
    const { clock } = this.#options
    const nowMs = clock.monotonicMs()
    this.#counted ??= {
      sinceMs: clock.nowMs(),
      first: counters,
      samples: [{ atMs: nowMs, counters: noCounters }],
    }
    const { samples } = this.#counted
    if (counterNames.some((name) => counters[name] < this.#last[name])) this.#base = this.total
    if (counters.videoFrames !== this.#last.videoFrames) this.#lastFrameMs = nowMs
    this.#last = counters
    this.#clockRate = clockRate
    for (const deviation of deviations) this.#deviations.add(deviation)
    if (nowMs - samples.at(-1)!.atMs < sampleMs) return
    samples.push({ atMs: nowMs, counters: this.total })
    while (samples[1] && nowMs - samples[0]!.atMs > windowMs) samples.shift()
    this.#judge(this.#counted)
  }

  /** Undefined until something has been counted. */
  figures(): CameraFigures | undefined {
    if (!this.#counted) return undefined
    const { clock } = this.#options
    const nowMs = clock.monotonicMs()
    const { sinceMs, first } = this.#counted
    const { total } = this
    const { atMs, counters } = this.#sampleBefore(this.#counted, minuteMs)
    const seconds = (nowMs - atMs) / 1000
    const { receivedBytes, videoFrames } = subtractCounters(total, counters === noCounters ? first : counters)
    const isOn = nowMs - this.#lastFrameMs < silentMs && seconds >= 1
    const recent = this.#since(this.#counted, windowMs)
    return {
      ...total,
      sinceMs,
      atMs: clock.nowMs(),
      bitRate: isOn ? (receivedBytes * 8) / seconds : undefined,
      frameRate: isOn ? videoFrames / seconds : undefined,
      clockRate: this.#clockRate,
      deviations: [...this.#deviations].sort(),
      packetLoss: findPacketLoss(recent),
      frameLoss: findFrameLoss(recent),
    }
  }

  #judge(counted: Counted): void {
    const recent = this.#since(counted, minuteMs)
    const loss = judgeLoss(recent)
    // A minute without packets gives no loss rate.
    if (loss === 'some' || recent.videoFrames + recent.droppedFrames + recent.packets === 0) return
    const packetLoss = findPacketLoss(recent) ?? 0
    const frameLoss = findFrameLoss(recent) ?? 0
    this.#options.onLoss({ isLosing: loss === 'much', packetLoss, frameLoss })
  }

  #since(counted: Counted, ms: number): CameraCounters {
    return subtractCounters(this.total, this.#sampleBefore(counted, ms).counters)
  }

  /** The newest report that is at least this old, or the oldest one. */
  #sampleBefore({ samples }: Counted, ms: number): Sample {
    const fromMs = this.#options.clock.monotonicMs() - ms
    return samples.findLast(({ atMs }) => atMs <= fromMs) ?? samples[0]!
  }
}

// How well the pictures of each camera arrive, from the counters that the workers send every few seconds: rates of the last minute, losses
// of the last ten. Kept in memory for the API, written twice a minute for the command line.

import type { Clock } from './base/clock.ts'
import { errorChain } from './base/error.ts'
import type { Logger } from './base/log.ts'
import {
  addCounters,
  type CameraCounters,
  type CameraFigures,
  counterNames,
  findPacketLoss,
  findPictureLoss,
  judgeLoss,
  noCounters,
  subtractCounters,
} from './model/camera-figures.ts'

export type CountersOfCamera = CameraCounters & {
  readonly cameraId: number
  /** As in `CameraFigures`. */
  readonly clockRate: number
}

export type LossReport = {
  readonly cameraId: number
  readonly isLosing: boolean
  /** Shares of the last minute, from 0 to 1. */
  readonly packetLoss: number
  readonly pictureLoss: number
}

export type FigureKeeperOptions = {
  readonly rows: { write(figures: ReadonlyMap<number, CameraFigures>): Promise<void> }
  readonly clock: Clock
  readonly log: Logger
  /** Called every ten seconds for each camera that loses much, and for each that loses little. */
  readonly onLoss: (report: LossReport) => void
}

const sampleMs = 10_000
const writeIntervalMs = 30_000
const minuteMs = 60_000
const windowMs = 600_000
/** No picture for so long: there is no rate. */
const silentMs = 15_000

type Sample = { readonly atMs: number; readonly counters: CameraCounters }

type Kept = {
  readonly sinceMs: number
  /** Sums of what workers that have died had counted. */
  base: CameraCounters
  last: CameraCounters
  /** Of the first report. Nobody knows in how much time that was counted, so that it is in no rate. */
  readonly first: CameraCounters
  clockRate: number
  /** Monotonic. */
  lastPictureMs: number
  /** Oldest first; the oldest is not older than the window. */
  samples: Sample[]
}

export class FigureKeeper {
  readonly #options: FigureKeeperOptions
  readonly #cameras = new Map<number, Kept>()
  /** Of cameras that were removed. */
  #gone = noCounters

  constructor(options: FigureKeeperOptions) {
    this.#options = options
  }

  /** Takes what a worker counted. A counter that decreased is that of another worker. */
  take(counters: readonly CountersOfCamera[]): void {
    for (const each of counters) this.#take(each)
  }

  /** Undefined for a camera of which nothing has been counted yet. */
  find(cameraId: number): CameraFigures | undefined {
    const kept = this.#cameras.get(cameraId)
    return kept && this.#describe(kept)
  }

  /** The camera is gone for good. */
  forget(cameraId: number): void {
    const kept = this.#cameras.get(cameraId)
    if (kept) this.#gone = addCounters(this.#gone, addCounters(kept.base, kept.last))
    this.#cameras.delete(cameraId)
  }

  /** Sums over all cameras, of which none is named. */
  stats(): { readonly freezes: number; readonly frozenMs: number; readonly losing: number } {
    let { freezes, frozenMs } = this.#gone
    let losing = 0
    for (const kept of this.#cameras.values()) {
      freezes += kept.base.freezes + kept.last.freezes
      frozenMs += kept.base.frozenMs + kept.last.frozenMs
      if (judgeLoss(this.#since(kept, minuteMs)) === 'much') losing++
    }
    return { freezes, frozenMs, losing }
  }

  /** Writes twice a minute; ends when `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, rows, log } = this.#options
    while (!signal.aborted) {
      await clock.sleep(writeIntervalMs, signal).catch(() => {})
      const figures = new Map([...this.#cameras].map(([cameraId, kept]) => [cameraId, this.#describe(kept)]))
      await rows.write(figures).catch((error: unknown) => {
        log.warn({ error: errorChain(error) }, 'the figures of cameras were not written')
      })
    }
  }

  #take({ cameraId, clockRate, ...counters }: CountersOfCamera): void {
    const { clock } = this.#options
    const nowMs = clock.monotonicMs()
    let kept = this.#cameras.get(cameraId)
    if (!kept) {
      kept = {
        sinceMs: clock.nowMs(),
        base: noCounters,
        last: noCounters,
        clockRate,
        lastPictureMs: Number.NEGATIVE_INFINITY,
        first: counters,
        samples: [{ atMs: nowMs, counters: noCounters }],
      }
      this.#cameras.set(cameraId, kept)
    }
    const { last } = kept
    if (counterNames.some((name) => counters[name] < last[name])) kept.base = addCounters(kept.base, last)
    if (counters.videoFrames !== last.videoFrames) kept.lastPictureMs = nowMs
    kept.last = counters
    kept.clockRate = clockRate
    const newest = kept.samples.at(-1)!
    if (nowMs - newest.atMs < sampleMs) return
    kept.samples.push({ atMs: nowMs, counters: addCounters(kept.base, counters) })
    while (kept.samples[1] && nowMs - kept.samples[0]!.atMs > windowMs) kept.samples.shift()
    this.#judge(cameraId, kept)
  }

  #judge(cameraId: number, kept: Kept): void {
    const recent = this.#since(kept, minuteMs)
    const loss = judgeLoss(recent)
    // A minute in which nothing came says nothing.
    if (loss === 'some' || recent.videoFrames + recent.droppedFrames + recent.packets === 0) return
    const isLosing = loss === 'much'
    const packetLoss = findPacketLoss(recent) ?? 0
    const pictureLoss = findPictureLoss(recent) ?? 0
    this.#options.onLoss({ cameraId, isLosing, packetLoss, pictureLoss })
  }

  #describe(kept: Kept): CameraFigures {
    const { clock } = this.#options
    const nowMs = clock.monotonicMs()
    const total = addCounters(kept.base, kept.last)
    const { atMs, counters } = this.#sampleBefore(kept, minuteMs)
    const seconds = (nowMs - atMs) / 1000
    const { receivedBytes, videoFrames } = subtractCounters(total, counters === noCounters ? kept.first : counters)
    const isOn = nowMs - kept.lastPictureMs < silentMs && seconds >= 1
    const recent = this.#since(kept, windowMs)
    return {
      ...total,
      sinceMs: kept.sinceMs,
      atMs: clock.nowMs(),
      bitRate: isOn ? (receivedBytes * 8) / seconds : undefined,
      frameRate: isOn ? videoFrames / seconds : undefined,
      clockRate: kept.clockRate,
      packetLoss: findPacketLoss(recent),
      pictureLoss: findPictureLoss(recent),
    }
  }

  #since(kept: Kept, ms: number): CameraCounters {
    return subtractCounters(addCounters(kept.base, kept.last), this.#sampleBefore(kept, ms).counters)
  }

  /** The newest that is at least so old, or the oldest there is. */
  #sampleBefore({ samples }: Kept, ms: number): Sample {
    const fromMs = this.#options.clock.monotonicMs() - ms
    return samples.findLast(({ atMs }) => atMs <= fromMs) ?? samples[0]!
  }
}

// What the server itself has to say of its cameras, as events: outages, gaps in the footage, failures of recording. Nobody waits for
// it: what it is told is looked at each second, and what the store does not take at the moment is tried again.

import type { FootageGap } from './archive/catalog.ts'
import { RateLimiter } from './auth/guard/rate-limiter.ts'
import type { Clock } from './base/clock.ts'
import { AppError, errorChain } from './base/error.ts'
import type { Logger } from './base/log.ts'
import type { LossReport } from './figure-keeper.ts'
import type { CameraReport } from './media-workers.ts'
import { type Moment, Outage, type OutageNews } from './model/outage.ts'
import { writeTime, writeTimeUp } from './model/time.ts'
import type { NewCameraEvent, OutageEdge } from './store/events.ts'
import type { Store } from './store/store.ts'

export type CameraEventsOptions = {
  readonly store: {
    readonly events: Pick<Store['events'], 'insert' | 'listOutages'>
    readonly cameras: Pick<Store['cameras'], 'list'>
  }
  readonly clock: Clock
  readonly log: Logger
  /** How long a camera must be gone, or back, and a gap in the footage last, to be told. */
  readonly outageMs: number
}

type Cause = { readonly reason: string; readonly detail: string | undefined }

type Watched = {
  readonly connection: Outage<Cause>
  recording: Outage<string | undefined>
  /** Down while the camera's clock passes at another rate than 1. */
  readonly clockRate: Outage<number>
  readonly loss: Outage<LossReport>
}

type Queued = { readonly event: NewCameraEvent; readonly outage: OutageEdge | undefined }

const lookIntervalMs = 1000
/** A camera whose clock is wrong every night is reported once. */
const clockRateLimits = { downMs: 60_000, upMs: 7 * 86_400_000 }
const maxQueued = 1000
/** Losses are reported after this many times `outageMs`, and again only after they were small for twice as long. */
const lossFactor = 20
/** Of one camera. */
const maxAnHour = 60

export class CameraEvents {
  readonly #options: CameraEventsOptions
  readonly #watched = new Map<number, Watched>()
  /** Cameras that have been connected: one that never was is not set up yet, and has no outages. */
  readonly #seen = new Set<number>()
  readonly #limiter: RateLimiter<number>
  #queued: Queued[] = []
  #writing: Promise<void> | undefined
  #dropped = 0
  #isFailing = false

  constructor(options: CameraEventsOptions) {
    this.#options = options
    this.#limiter = new RateLimiter({ limit: maxAnHour, windowMs: 3_600_000, clock: options.clock })
  }

  /** Goes on with what the last run of the server told. Before the first report. */
  async open(): Promise<void> {
    const { store } = this.#options
    for (const [cameraId, sinceMs] of await store.events.listOutages()) this.#watch(cameraId, sinceMs)
    for (const { id, snapshotAtMs } of await store.cameras.list()) if (snapshotAtMs !== null) this.#seen.add(id)
  }

  /** Takes a worker's report. */
  take(report: CameraReport): void {
    if (report.type === 'camera_status') {
      const { cameraId, status } = report
      if (status.state === 'online') this.#connected(cameraId)
      else if (status.state === 'offline') this.#lost(cameraId, status)
    } else if (report.type === 'recording_status') {
      const { cameraId, status, detail } = report
      const watched = this.#watch(cameraId)
      if (status === 'ERROR') watched.recording.down(this.#now(), detail)
      else if (status === 'RECORDING') watched.recording.up(this.#now())
      // Turned off, it has not failed: when it is turned on again, it may fail anew.
      else if (status === 'READY') watched.recording = this.#watchRecording()
    } else if (report.type === 'camera_clock') {
      const { clockRate } = this.#watch(report.cameraId)
      if (report.rate === 1) clockRate.up(this.#now())
      else clockRate.down(this.#now(), report.rate)
    }
  }

  /** The cameras' worker has died: nobody is connected to them until there is another. */
  takeWorkerLoss(cameraIds: readonly number[]): void {
    for (const cameraId of cameraIds) {
      this.#lost(cameraId, { reason: 'server_down', detail: 'The server is starting this camera again.' })
    }
  }

  /** There is footage again. A gap that its owner asked for is not news. */
  takeGap({ cameraId, startMs, endMs, reason }: FootageGap): void {
    if (reason === 'clock_set') {
      this.#writeClockSet(cameraId, startMs, endMs)
      return
    }
    if (endMs - startMs < this.#options.outageMs || reason === 'stopped_by_user') return
    if (!this.#mayTell(cameraId)) {
      this.#dropped++
      return
    }
    const data = { start: writeTimeUp(startMs), end: writeTime(endMs), reason }
    this.#write({ cameraId, category: 'recording_gap', title: 'Gap in the recording', occurredAtMs: endMs, data })
  }

  /** Losses that persist are told once, and again only after they have been over for a while. */
  takeLoss(report: LossReport): void {
    if (report.isLosing) this.#watch(report.cameraId).loss.down(this.#now(), report)
    else this.#watched.get(report.cameraId)?.loss.up(this.#now())
  }

  /** The camera is gone for good. */
  forget(cameraId: number): void {
    this.#watched.delete(cameraId)
    this.#seen.delete(cameraId)
  }

  /** Looks each second at what there is to tell; ends when `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#options.clock.sleep(lookIntervalMs, signal).catch(() => {})
      if (!signal.aborted) this.#look()
    }
    await this.flush()
    if (this.#queued.length > 0) this.#options.log.error({ events: this.#queued.length }, 'events of cameras are lost')
  }

  /** Resolves when all that was to be told is in the store, or cannot be put there at the moment. */
  async flush(): Promise<void> {
    await this.#writing
    if (this.#queued.length > 0) await (this.#writing ??= this.#drain())
  }

  /** `dropped`: because there were too many. */
  stats(): { waiting: number; dropped: number } {
    return { waiting: this.#queued.length, dropped: this.#dropped }
  }

  #connected(cameraId: number): void {
    this.#seen.add(cameraId)
    this.#watched.get(cameraId)?.connection.up(this.#now())
  }

  #lost(cameraId: number, { reason, detail }: Cause): void {
    if (this.#seen.has(cameraId)) this.#watch(cameraId).connection.down(this.#now(), { reason, detail })
  }

  #watch(cameraId: number, toldSinceMs?: number): Watched {
    let watched = this.#watched.get(cameraId)
    if (!watched) {
      const { outageMs } = this.#options
      const connection = new Outage<Cause>({ downMs: outageMs, upMs: outageMs }, toldSinceMs)
      const lossMs = lossFactor * outageMs
      const loss = new Outage<LossReport>({ downMs: lossMs, upMs: 2 * lossMs })
      watched = { connection, recording: this.#watchRecording(), clockRate: new Outage(clockRateLimits), loss }
      this.#watched.set(cameraId, watched)
    }
    return watched
  }

  /** Told at once, and once until it has gone well for a while. */
  #watchRecording(): Watched['recording'] {
    return new Outage({ downMs: 0, upMs: this.#options.outageMs })
  }

  #look(): void {
    const monotonicMs = this.#options.clock.monotonicMs()
    for (const [cameraId, { connection, recording, clockRate, loss }] of this.#watched) {
      const mayTell = () => this.#mayTell(cameraId)
      const outage = connection.poll(monotonicMs, mayTell)
      if (outage) this.#writeOutage(cameraId, outage)
      const failure = recording.poll(monotonicMs, mayTell)
      if (failure?.kind === 'begin') {
        const data = { detail: failure.cause ?? null }
        const title = 'Recording failed'
        this.#write({ cameraId, category: 'recording_error', title, occurredAtMs: failure.sinceMs, data })
      }
      const wrong = clockRate.poll(monotonicMs, mayTell)
      if (wrong?.kind === 'begin') this.#writeClockRate(cameraId, wrong.sinceMs, wrong.cause)
      const losing = loss.poll(monotonicMs, mayTell)
      if (losing?.kind === 'begin') this.#writeLoss(losing.cause, losing.sinceMs)
    }
    if (this.#queued.length > 0) this.#writing ??= this.#drain()
  }

  #writeLoss({ cameraId, packetLoss, pictureLoss }: LossReport, sinceMs: number): void {
    const percent = (part: number) => Math.round(part * 1000) / 10
    const data = { packet_loss_percent: percent(packetLoss), picture_loss_percent: percent(pictureLoss) }
    const title = 'Pictures are lost on the way from the camera'
    this.#write({ cameraId, category: 'packet_loss', title, occurredAtMs: sinceMs, data })
  }

  #writeOutage(cameraId: number, news: OutageNews<Cause>): void {
    const { sinceMs } = news
    if (news.kind === 'begin') {
      const { reason, detail = null } = news.cause
      const event = { cameraId, category: 'camera_offline', title: 'Camera offline', occurredAtMs: sinceMs }
      this.#write({ ...event, data: { reason, detail } }, { kind: 'begin', sinceMs })
    } else {
      const data = {
        offline_since: writeTime(sinceMs),
        duration_seconds: Math.max(0, Math.round((news.untilMs - sinceMs) / 1000)),
      }
      const event = { cameraId, category: 'camera_online', title: 'Camera online again', occurredAtMs: news.untilMs }
      this.#write({ ...event, data }, { kind: 'end' })
    }
  }

  #writeClockSet(cameraId: number, fromMs: number, toMs: number): void {
    if (!this.#mayTell(cameraId)) {
      this.#dropped++
      return
    }
    const way = toMs < fromMs ? 'back' : 'forwards'
    const detail = `The server's clock was set ${way}: recording continues at the new time.`
    const data = { before: writeTime(fromMs), after: writeTime(toMs), detail }
    this.#write({ cameraId, category: 'clock_set', title: 'Clock was set', occurredAtMs: toMs, data })
  }

  #writeClockRate(cameraId: number, occurredAtMs: number, rate: number): void {
    const fewer = rate > 1 ? 'fewer' : 'more'
    const detail = `The camera stamps its pictures as if ${(60 / rate).toFixed(1)} seconds passed in a minute: it probably sends ${fewer} pictures than its configured frame rate. The server measures their times instead. To correct this, set a constant frame rate in the camera, for instance by limiting the exposure time at night.`
    const data = { rate: Math.round(rate * 1000) / 1000, detail }
    this.#write({ cameraId, category: 'camera_clock', title: 'Camera clock is wrong', occurredAtMs, data })
  }

  #write(event: Omit<NewCameraEvent, 'source' | 'data'> & { readonly data: object }, outage?: OutageEdge): void {
    if (this.#queued.length >= maxQueued) {
      this.#dropped++
      return
    }
    this.#queued.push({ event: { ...event, source: 'system', data: JSON.stringify(event.data) }, outage })
  }

  async #drain(): Promise<void> {
    try {
      for (let next = this.#queued[0]; next; next = this.#queued[0]) {
        await this.#insert(next)
        this.#queued.shift()
        this.#isFailing = false
      }
    } catch (error) {
      // Once, not at each of the attempts that follow.
      if (!this.#isFailing)
        this.#options.log.warn({ error: errorChain(error) }, 'events of cameras cannot be written at the moment')
      this.#isFailing = true
    } finally {
      this.#writing = undefined
    }
  }

  async #insert({ event, outage }: Queued): Promise<void> {
    try {
      await this.#options.store.events.insert(event, outage)
    } catch (error) {
      const isCameraGone = error instanceof AppError && error.kind === 'not_found'
      if (!isCameraGone) throw error
    }
  }

  /** Asked for what begins; what ends it may always be told. */
  #mayTell(cameraId: number): boolean {
    try {
      this.#limiter.take(cameraId)
      return true
    } catch {
      return false
    }
  }

  #now(): Moment {
    const { clock } = this.#options
    return { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() }
  }
}

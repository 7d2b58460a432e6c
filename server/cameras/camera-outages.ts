// Decides when the problems of one camera become events: connection lost, recording failed, wrong clock, losses, gaps
// in the footage. Problems shorter than their limit are not reported.

import type { RecordingStatus } from '../../contract/recording-status.ts'
import type { FootageGap } from '../archive/catalog.ts'
import type { Clock } from '../base/clock.ts'
import { type Moment, Outage, type OutageNews } from '../model/outage.ts'
import { writeTime, writeTimeUp } from '../model/time.ts'
import type { LossReport } from './camera-meter.ts'
import type { EventWriter } from './event-writer.ts'
import type { OutageMails } from './outage-mails.ts'

export type CameraOutagesOptions = {
  readonly cameraId: number
  readonly events: Pick<EventWriter, 'mayBegin' | 'writeLimited' | 'write'>
  readonly mails?: Pick<OutageMails, 'begin' | 'end'> | undefined
  readonly clock: Clock
  /** How long a camera must be offline, or back online, and how long a gap must last, to become an event. */
  readonly outageMs: number
  /** Start of an outage that was reported before the server started and may continue, Unix milliseconds. */
  readonly outageSinceMs?: number | undefined
  /** True if the camera has ever been connected. A camera that never was is not set up yet and has no outages. */
  readonly wasConnected: boolean
}

export type OutageCause = { readonly reason: string; readonly detail: string | undefined }

/** A camera whose clock is wrong every night is reported only once. */
const clockRateLimits = { downMs: 60_000, upMs: 7 * 86_400_000 }
/** Losses are reported after this many times `outageMs`, and again only after they were low for twice as long. */
const lossFactor = 20

export class CameraOutages {
  readonly #options: CameraOutagesOptions
  readonly #connection: Outage<OutageCause>
  #recording: Outage<string | undefined>
  /** Down while the camera's clock runs at a rate other than 1. */
  readonly #clockRate = new Outage<number>(clockRateLimits)
  readonly #loss: Outage<LossReport>
  #wasConnected: boolean

  constructor(options: CameraOutagesOptions) {
    const { outageMs, outageSinceMs, wasConnected } = options
    this.#options = options
    this.#wasConnected = wasConnected
    this.#connection = new Outage({ downMs: outageMs, upMs: outageMs }, outageSinceMs)
    this.#recording = this.#createRecording()
    const lossMs = lossFactor * outageMs
    this.#loss = new Outage({ downMs: lossMs, upMs: 2 * lossMs })
  }

  connected(): void {
    this.#wasConnected = true
    this.#connection.up(this.#now())
  }

  disconnected({ reason, detail }: OutageCause): void {
    if (this.#wasConnected) this.#connection.down(this.#now(), { reason, detail })
  }

  takeRecordingStatus(status: RecordingStatus, detail: string | undefined): void {
    if (status === 'ERROR') this.#recording.down(this.#now(), detail)
    else if (status === 'RECORDING') this.#recording.up(this.#now())
    // Recording that is off has not failed. When it is turned on again, a failure is new.
    else if (status === 'READY') {
      this.#recording = this.#createRecording()
      this.#options.mails?.end(this.#options.cameraId, 'recording')
    }
  }

  /** `rate` of the camera's clock; 1 if it is right. */
  takeClockRate(rate: number): void {
    if (rate === 1) this.#clockRate.up(this.#now())
    else this.#clockRate.down(this.#now(), rate)
  }

  takeLoss(report: LossReport): void {
    if (report.isLosing) this.#loss.down(this.#now(), report)
    else this.#loss.up(this.#now())
  }

  /** Takes a gap that has ended. A gap that the owner caused is not an event. */
  takeGap({ startMs, endMs, reason }: Omit<FootageGap, 'cameraId'>): void {
    const { cameraId, events, outageMs } = this.#options
    if (reason === 'clock_set') events.writeLimited(describeClockSet(cameraId, startMs, endMs))
    else if (endMs - startMs >= outageMs && reason !== 'stopped_by_user') {
      const data = { start: writeTimeUp(startMs), end: writeTime(endMs), reason }
      events.writeLimited({
        cameraId,
        category: 'recording_gap',
        title: 'Gap in the recording',
        occurredAtMs: endMs,
        data,
      })
    }
  }

  /** Reports what has lasted long enough. Call every second. */
  look(): void {
    const { cameraId, clock, events, mails } = this.#options
    const monotonicMs = clock.monotonicMs()
    const mayBegin = () => events.mayBegin(cameraId)
    const outage = this.#connection.poll(monotonicMs, mayBegin)
    if (outage) this.#writeOutage(outage)
    const failure = this.#recording.poll(monotonicMs, mayBegin)
    if (failure?.kind === 'begin') {
      const data = { detail: failure.cause ?? null }
      const title = 'Recording failed'
      events.write({ cameraId, category: 'recording_error', title, occurredAtMs: failure.sinceMs, data })
      mails?.begin(cameraId, 'recording', { sinceMs: failure.sinceMs, detail: failure.cause })
    } else if (failure) mails?.end(cameraId, 'recording')
    const wrong = this.#clockRate.poll(monotonicMs, mayBegin)
    if (wrong?.kind === 'begin') events.write(describeClockRate(cameraId, wrong.sinceMs, wrong.cause))
    const losing = this.#loss.poll(monotonicMs, mayBegin)
    if (losing?.kind === 'begin') events.write(describeLoss(cameraId, losing.sinceMs, losing.cause))
  }

  #writeOutage(news: OutageNews<OutageCause>): void {
    const { cameraId, events, mails } = this.#options
    const { sinceMs } = news
    if (news.kind === 'begin') {
      const { reason, detail = null } = news.cause
      const event = { cameraId, category: 'camera_offline', title: 'Camera offline', occurredAtMs: sinceMs }
      events.write({ ...event, data: { reason, detail } }, { kind: 'begin', sinceMs })
      mails?.begin(cameraId, 'offline', { sinceMs, detail: detail ?? undefined })
    } else {
      const data = {
        offline_since: writeTime(sinceMs),
        duration_seconds: Math.max(0, Math.round((news.untilMs - sinceMs) / 1000)),
      }
      const event = { cameraId, category: 'camera_online', title: 'Camera online again', occurredAtMs: news.untilMs }
      events.write({ ...event, data }, { kind: 'end' })
      mails?.end(cameraId, 'offline')
    }
  }

  /** Becomes an event immediately, and not again until it has worked for a while. */
  #createRecording(): Outage<string | undefined> {
    return new Outage({ downMs: 0, upMs: this.#options.outageMs })
  }

  #now(): Moment {
    const { clock } = this.#options
    return { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() }
  }
}

function describeLoss(cameraId: number, occurredAtMs: number, { packetLoss, frameLoss }: LossReport) {
  const percent = (part: number) => Math.round(part * 1000) / 10
  const data = { packet_loss_percent: percent(packetLoss), picture_loss_percent: percent(frameLoss) }
  const title = 'Frames are lost between camera and server'
  return { cameraId, category: 'packet_loss', title, occurredAtMs, data }
}

function describeClockSet(cameraId: number, fromMs: number, toMs: number) {
  const way = toMs < fromMs ? 'back' : 'forwards'
  const detail = `The server's clock was set ${way}: recording continues at the new time.`
  const data = { before: writeTime(fromMs), after: writeTime(toMs), detail }
  return { cameraId, category: 'clock_set', title: 'Clock was set', occurredAtMs: toMs, data }
}

function describeClockRate(cameraId: number, occurredAtMs: number, rate: number) {
  const fewer = rate > 1 ? 'fewer' : 'more'
  const detail = `The timestamps of the camera advance by ${(60 / rate).toFixed(1)} seconds per minute: it probably sends ${fewer} frames than its configured frame rate. The server measures their times instead. To correct this, set a constant frame rate in the camera, for instance by limiting the exposure time at night.`
  const data = { rate: Math.round(rate * 1000) / 1000, detail }
  return { cameraId, category: 'camera_clock', title: 'Camera clock is wrong', occurredAtMs, data }
}

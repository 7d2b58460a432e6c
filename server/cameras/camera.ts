// One camera on the main thread: its job for the worker, the worker's reports, and their effects on status, footage,
// events, reasons of gaps, statistics and snapshots. Frames stay in the worker.

import type { GapReason } from '../../contract/gap-reasons.ts'
import type { Catalog, FootageGap } from '../archive/catalog.ts'
import type { Clock } from '../base/clock.ts'
import { errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import type { SerialQueue } from '../base/serial-queue.ts'
import type { SessionStatus } from '../ingest/session/camera-session.ts'
import type { CameraFigures } from '../model/camera-figures.ts'
import { type CameraLease, LostLease } from '../model/camera-lease.ts'
import type { GapMark } from '../model/gap-mark.ts'
import type { Store, StoreTables } from '../store/store.ts'
import { CameraMeter, type CountersOfCamera } from './camera-meter.ts'
import { CameraOutages } from './camera-outages.ts'
import type { EventWriter } from './event-writer.ts'
import { GapMarker } from './gap-marker.ts'
import type { CameraReport } from './media-workers.ts'
import type { OutageMails } from './outage-mails.ts'
import type { SnapshotSchedule, SnapshotTaker } from './snapshot-taker.ts'
import type { CameraJob } from './worker-protocol.ts'

/** Services that all cameras of a server share. */
export type CameraServices = {
  readonly store: Pick<Store, 'gapMarks' | 'fenced'>
  readonly catalog: Catalog
  readonly workers: {
    setCamera(job: CameraJob): void
    removeCamera(cameraId: number, reason?: GapReason): Promise<void>
  }
  readonly snapshots: SnapshotTaker
  readonly events: EventWriter
  readonly outageMails?: OutageMails | undefined
  /** Writes to the store, in the order of the reports. */
  readonly writes: SerialQueue
  /** Disconnects the viewers of a deleted camera. */
  readonly closeLive: (cameraId: number) => void
  /** Called when recording fails, because the disk may be full. */
  readonly onRecordingError: () => void
  /** How long a camera must be offline, or back online, and how long a gap must last, to become an event. */
  readonly outageMs: number
  /** Called when a write was refused because another server has the camera. */
  readonly onLostLease: (error: LostLease) => void
  readonly clock: Clock
  readonly log: Logger
}

/** State of the camera from before the server started. */
export type CameraHistory = {
  readonly snapshotAtMs: number | null
  /** Start of an outage that was reported as an event and may continue, Unix milliseconds. */
  readonly outageSinceMs?: number | undefined
}

export class Camera {
  readonly id: number
  /** Under which this server has it; undefined where there are no leases. */
  readonly lease: CameraLease | undefined
  readonly #services: CameraServices
  readonly #outages: CameraOutages
  readonly #gaps: GapMarker
  readonly #meter: CameraMeter
  readonly #snapshot: SnapshotSchedule
  #job: CameraJob | undefined
  /** By what it is: the change that was reported last, and that one if it could not be written. */
  readonly #newest = new Map<string, Write>()
  readonly #unwritten = new Map<string, Write>()
  /** The last reported status. */
  #status: SessionStatus | undefined
  #keyIntervalMs: number | undefined

  constructor(
    id: number,
    { snapshotAtMs, outageSinceMs }: CameraHistory,
    services: CameraServices,
    lease?: CameraLease,
  ) {
    const { store, catalog, snapshots, events, outageMails, writes, outageMs, clock, log } = services
    this.id = id
    this.lease = lease
    this.#services = services
    this.#outages = new CameraOutages({
      ...{ cameraId: id, mails: outageMails, clock, outageMs, outageSinceMs },
      events: {
        mayBegin: (cameraId) => events.mayBegin(cameraId),
        writeLimited: (event) => events.writeLimited(event, lease),
        write: (event, outage) => events.write(event, outage, lease),
      },
      wasConnected: snapshotAtMs !== null || outageSinceMs !== undefined,
    })
    this.#gaps = new GapMarker({
      ...{ cameraId: id, writes, clock, log },
      marks: {
        add: (cameraId, mark) => store.fenced(lease, ({ gapMarks }) => gapMarks.add(cameraId, mark)),
        removeBefore: (...range) => store.fenced(lease, ({ gapMarks }) => gapMarks.removeBefore(...range)),
        findNewest: (cameraId) => store.gapMarks.findNewest(cameraId),
        list: (...range) => store.gapMarks.list(...range),
      },
      isRecorded: () => this.isRecorded,
      findFootage: () => catalog.knownBounds(id),
      findLast: () => catalog.findLast(id),
      findLastEpoch: () => catalog.findLastEpoch(id),
    })
    this.#meter = new CameraMeter({ clock, onLoss: (report) => this.#outages.takeLoss(report) })
    this.#snapshot = snapshots.schedule(id)
  }

  /** True if the camera is to be recorded. */
  get isRecorded(): boolean {
    return this.#job?.recording !== undefined
  }

  /** The last reported status; undefined before the first report. */
  get status(): SessionStatus | undefined {
    return this.#status
  }

  /** Milliseconds between key frames, if known. Survives reconnects and worker crashes. */
  get keyIntervalMs(): number | undefined {
    return this.#keyIntervalMs
  }

  get meter(): Pick<CameraMeter, 'total' | 'isLosing'> {
    return this.#meter
  }

  /** Undefined until something has been counted. */
  figures(): CameraFigures | undefined {
    return this.#meter.figures()
  }

  /** The file of this server is older than what another one has taken since. */
  dropSnapshot(): Promise<void> {
    return this.#services.snapshots.remove(this.#snapshot)
  }

  /** See `GapMarker.findStartReason`. */
  findStartReason(otherwise: GapReason): Promise<GapReason> {
    return this.#gaps.findStartReason(otherwise)
  }

  listGapMarks(startMs: number, endMs: number): Promise<GapMark[]> {
    return this.#gaps.list(startMs, endMs)
  }

  /** Sets the job of the worker. Does nothing if the job is unchanged. */
  setJob(job: CameraJob): void {
    if (this.#job && isSameJob(this.#job, job)) return
    this.#job = job
    this.#services.workers.setCamera(job)
  }

  /** Takes a report of the worker. */
  take(report: CameraReport): void {
    const { catalog, onRecordingError } = this.#services
    switch (report.type) {
      case 'segment_opened':
        catalog.segmentOpened(report.segment, this.lease)
        return
      case 'fragment_written':
        catalog.fragmentWritten(this.id, report.path, report.fragment)
        return
      case 'segment_closed':
        catalog.segmentClosed(this.id, report.path, report.checksum, report.indexBytes)
        return
      case 'segment_broken':
        catalog.segmentBroken(this.id, report.path, report.confirmed)
        return
      case 'recording_gap':
        this.#gaps.takeGap(report)
        return
      case 'recording_status':
        if (report.status === 'ERROR') onRecordingError()
        this.#outages.takeRecordingStatus(report.status, report.detail)
        this.#write('recording status', ({ recordings }) => recordings.setStatus(this.id, report.status, report.detail))
        return
      case 'camera_status':
        this.#takeStatus(report.status)
        return
      case 'camera_clock':
        this.#outages.takeClockRate(report.rate)
        return
      case 'key_interval':
        this.#keyIntervalMs = report.intervalMs
    }
  }

  takeCounters(counters: CountersOfCamera): void {
    this.#meter.take(counters)
  }

  /** The worker has crashed: the camera is disconnected until a new worker runs. */
  takeWorkerLoss(): void {
    this.#outages.disconnected({ reason: 'server_down', detail: 'The server is starting this camera again.' })
    this.#services.catalog.abandon(this.id)
  }

  /** There is footage again after a gap. */
  takeGap(gap: FootageGap): void {
    this.#outages.takeGap(gap)
  }

  /** Call every second. */
  look(): void {
    this.#outages.look()
    this.#gaps.look()
    for (const [what, work] of this.#unwritten) this.#write(what, work)
  }

  /** Deletes records that are older than any footage. */
  clean(): Promise<void> {
    return this.#gaps.clean()
  }

  /** Writes pending changes. Call after the workers have ended. */
  flush(): Promise<void> {
    return this.#gaps.flush()
  }

  /** The camera was deleted: ends its worker's job, its viewers and snapshots, and starts deleting its footage. */
  async remove(): Promise<void> {
    const { workers, snapshots, closeLive, log } = this.#services
    this.#job = undefined
    try {
      await workers.removeCamera(this.id)
      this.#removeFootage()
      closeLive(this.id)
      await snapshots.remove(this.#snapshot)
    } catch (error) {
      log.error({ cameraId: this.id, error: errorChain(error) }, 'the data of a deleted camera could not be removed')
    }
  }

  /**
   * Another server has the camera, or is to have it: ends its worker's job and its viewers, and writes what is left, which
   * is refused if the lease was lost. The footage stays.
   */
  async release(): Promise<void> {
    const { workers, snapshots, closeLive, catalog, outageMails, log } = this.#services
    this.#job = undefined
    outageMails?.release(this.id)
    try {
      await workers.removeCamera(this.id, 'node_lost')
      await catalog.release(this.id)
      await this.#gaps.flush()
      closeLive(this.id)
      // If the camera is deleted, it is the other server that deletes what there is of it.
      await snapshots.remove(this.#snapshot)
    } catch (error) {
      log.error({ cameraId: this.id, error: errorChain(error) }, 'a camera could not be given up cleanly')
    }
  }

  /** Runs in the background, which may take long. If the server stops, the next start deletes the rest. */
  #removeFootage(): void {
    const { catalog, log } = this.#services
    catalog.removeCamera(this.id).catch((error) => {
      log.error({ cameraId: this.id, error: errorChain(error) }, 'the footage of a deleted camera could not be removed')
    })
  }

  #takeStatus(status: SessionStatus): void {
    if (status.state === 'connecting') return
    this.#status = status
    if (status.state === 'online') this.#outages.connected()
    else {
      this.#outages.disconnected(status)
      this.#gaps.takeOffline(status.reason)
    }
    this.#write('camera status', (tables) => this.#writeStatus(status, tables))
  }

  async #writeStatus(
    status: Exclude<SessionStatus, { state: 'connecting' }>,
    { cameras }: Pick<StoreTables, 'cameras'>,
  ): Promise<void> {
    const { snapshots } = this.#services
    if (status.state === 'offline') {
      snapshots.setOffline(this.#snapshot)
      const { reason, problem: code, detail } = status
      await cameras.setStatus(this.id, { status: 'offline', reason, code, detail })
    } else {
      const { video, audio } = status.format
      await cameras.setFormat(this.id, { type: video.codec, hasAudio: audio !== undefined })
      await cameras.setStatus(this.id, { status: 'online' })
      const camera = await cameras.find(this.id)
      if (camera) snapshots.setOnline(this.#snapshot, camera.snapshotAtMs)
    }
  }

  /** What fails is repeated each second, unless something newer was reported. */
  #write(what: string, work: Write): void {
    const { store, writes, log, onLostLease } = this.#services
    const isRepeated = this.#unwritten.get(what) === work
    this.#unwritten.delete(what)
    this.#newest.set(what, work)
    const write = async () => {
      if (this.#newest.get(what) === work) await store.fenced(this.lease, work)
    }
    void writes.run(write).catch((error) => {
      if (error instanceof LostLease) return onLostLease(error)
      if (!isRepeated) log.error({ cameraId: this.id, error: errorChain(error) }, `the ${what} could not be stored`)
      if (this.#newest.get(what) === work) this.#unwritten.set(what, work)
    })
  }
}

type Write = (tables: StoreTables) => Promise<void>

function isSameJob(a: CameraJob, b: CameraJob): boolean {
  const isSameRecording = (a.recording === undefined) === (b.recording === undefined)
  const isSameSource = a.url === b.url && a.username === b.username && a.password === b.password
  return isSameSource && a.canSeeProblems === b.canSeeProblems && a.keepsDamaged === b.keepsDamaged && isSameRecording
}

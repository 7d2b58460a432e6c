// Keeps what runs in step with what the store says: which cameras are connected, which are recorded, whose footage must go.
// And the other way round: what the workers report of a camera becomes its status in the store.

import type { GapReason } from '../contract/gap-reasons.ts'
import type { Catalog } from './archive/catalog.ts'
import type { Clock } from './base/clock.ts'
import { errorChain } from './base/error.ts'
import type { Logger } from './base/log.ts'
import type { SessionStatus } from './ingest/camera-session.ts'
import type { CameraReport } from './media-workers.ts'
import { isRecordedAt } from './model/recording-run.ts'
import type { Store } from './store/store.ts'
import type { CameraJob } from './worker-protocol.ts'

export type CameraDeskOptions = {
  readonly store: Store
  readonly catalog: Catalog
  readonly workers: { setCamera(job: CameraJob): void; removeCamera(cameraId: number): Promise<void> }
  /** Told when a camera came online, maybe again in another format, and when it went. `snapshotAtMs`: of the picture it has. */
  readonly onOnline: (cameraId: number, snapshotAtMs: number | null) => void
  readonly onOffline: (cameraId: number) => void
  /** Told when the recording of a camera fails: the disk may be full. */
  readonly onRecordingError: () => void
  /** At the start: why there is no footage of a camera before that which its recorder will make. */
  readonly findStartReason: (cameraId: number) => Promise<GapReason>
  /** Told when a camera is gone for good: viewers end, kept pictures go. */
  readonly onRemoved: (cameraId: number) => Promise<void>
  readonly clock: Clock
  readonly log: Logger
}

/** How late a recording may end whose time is over. */
const lookIntervalMs = 500

type Status = 'online' | 'offline' | 'unknown'

export class CameraDesk {
  readonly #options: CameraDeskOptions
  readonly #jobs = new Map<number, CameraJob>()
  /** As last reported. */
  readonly #statuses = new Map<number, SessionStatus>()
  /** Writes and changes in the order they came. */
  #work: Promise<void> = Promise.resolve()
  /** Of cameras: each waits for its disk, and nobody for it. */
  #removals: Promise<unknown> = Promise.resolve()
  #isReconcilePending = false
  /** When the next recording ends by itself, Unix milliseconds. */
  #nextEndMs = Number.POSITIVE_INFINITY
  #leaveStore: (() => void) | undefined
  #isClosed = false

  constructor(options: CameraDeskOptions) {
    this.#options = options
  }

  /** Starts what the store says, then follows its changes. */
  async open(): Promise<void> {
    const { store } = this.#options
    await store.cameras.resetStatus()
    await store.recordings.resetStatus()
    await this.#removeForgottenFootage()
    await this.#reconcile(this.#options.findStartReason)
    this.#leaveStore = store.onChange((change) => {
      if (change !== 'status') this.#scheduleReconcile()
    })
  }

  /** Takes a worker's report. */
  take(report: CameraReport): void {
    const { catalog, store } = this.#options
    switch (report.type) {
      case 'segment_opened':
        catalog.segmentOpened(report.segment)
        return
      case 'fragment_written':
        catalog.fragmentWritten(report.cameraId, report.path, report.fragment)
        return
      case 'segment_closed':
        catalog.segmentClosed(report.cameraId, report.path, report.checksum)
        return
      case 'segment_broken':
        catalog.segmentBroken(report.cameraId, report.path, report.confirmed)
        return
      case 'recording_gap':
        return
      case 'recording_status':
        if (report.status === 'ERROR') this.#options.onRecordingError()
        this.#do('recording status not written', () =>
          store.recordings.setStatus(report.cameraId, report.status, report.detail),
        )
        return
      case 'camera_status':
        if (report.status.state === 'connecting') return
        this.#statuses.set(report.cameraId, report.status)
        this.#do('camera status not written', () => this.#writeStatus(report.cameraId, report.status))
    }
  }

  /** Ends recordings whose time is over, until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    while (!signal.aborted) {
      await clock.sleep(lookIntervalMs, signal).catch(() => {})
      if (clock.nowMs() >= this.#nextEndMs) this.#scheduleReconcile()
    }
  }

  /** Is the camera to be recorded? */
  isRecorded(cameraId: number): boolean {
    return this.#jobs.get(cameraId)?.recording !== undefined
  }

  /** Stops following the store; what was reported so far is written. Call after the workers have ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#leaveStore?.()
    await this.#work
    await this.#removals
    await this.#options.store.cameras.resetStatus()
    await this.#options.store.recordings.resetStatus()
  }

  /** How many cameras are in which state; `reason` is empty but for those that are offline. */
  stats(): { status: Status; reason: string; cameras: number }[] {
    const groups = new Map<string, { status: Status; reason: string; cameras: number }>()
    for (const id of this.#jobs.keys()) {
      const told = this.#statuses.get(id)
      const status = told === undefined || told.state === 'connecting' ? 'unknown' : told.state
      const reason = told?.state === 'offline' ? told.reason : ''
      const group = groups.get(status + reason) ?? { status, reason, cameras: 0 }
      group.cameras++
      groups.set(status + reason, group)
    }
    return [...groups.values()]
  }

  async #writeStatus(cameraId: number, status: SessionStatus): Promise<void> {
    const { onOnline, onOffline, store } = this.#options
    const { cameras } = store
    if (status.state === 'offline') {
      onOffline(cameraId)
      const { reason, trouble: code, detail } = status
      await cameras.setStatus(cameraId, { status: 'offline', reason, code, detail })
    } else if (status.state === 'online') {
      const { video, audio } = status.format
      await cameras.setFormat(cameraId, { type: video.codec, hasAudio: audio !== undefined })
      await cameras.setStatus(cameraId, { status: 'online' })
      const camera = await cameras.find(cameraId)
      if (camera) onOnline(cameraId, camera.snapshotAtMs)
    }
  }

  #scheduleReconcile(): void {
    if (this.#isReconcilePending) return
    this.#isReconcilePending = true
    this.#do('cameras not brought in step with the store', async () => {
      this.#isReconcilePending = false
      await this.#reconcile(async () => 'stopped_by_user')
    })
  }

  async #reconcile(findStartReason: (cameraId: number) => Promise<GapReason>): Promise<void> {
    if (this.#isClosed) return
    const { store, workers, clock } = this.#options
    const cameras = await store.cameras.list()
    const recordings = new Map((await store.recordings.list()).map((recording) => [recording.cameraId, recording]))
    const owners = new Set((await store.users.list()).flatMap(({ id, isOwner }) => (isOwner ? [id] : [])))
    const wanted = new Set<number>()
    const nowMs = clock.nowMs()
    let nextEndMs = Number.POSITIVE_INFINITY
    for (const { id, ownerId, url, username, password, keepsDamaged } of cameras) {
      wanted.add(id)
      const recording = recordings.get(id)
      const isRecorded = recording !== undefined && isRecordedAt(recording, nowMs)
      if (isRecorded) nextEndMs = Math.min(nextEndMs, recording.recordsUntilMs ?? nextEndMs)
      const job: CameraJob = {
        cameraId: id,
        ownerId,
        tellsAll: owners.has(ownerId),
        url,
        ...(username !== null && { username }),
        ...(password !== null && { password }),
        ...(keepsDamaged && { keepsDamaged }),
        recording: isRecorded ? { startReason: await findStartReason(id) } : undefined,
      }
      const current = this.#jobs.get(id)
      if (current && isSameJob(current, job)) continue
      this.#jobs.set(id, job)
      workers.setCamera(job)
    }
    this.#nextEndMs = nextEndMs
    for (const id of [...this.#jobs.keys()].filter((id) => !wanted.has(id))) {
      this.#jobs.delete(id)
      this.#statuses.delete(id)
      this.#removals = Promise.all([this.#removals, this.#remove(id)])
    }
  }

  async #remove(cameraId: number): Promise<void> {
    const { workers, onRemoved, log } = this.#options
    try {
      await workers.removeCamera(cameraId)
      this.#removeFootage(cameraId)
      await onRemoved(cameraId)
    } catch (error) {
      log.error({ camera: cameraId, error: errorChain(error) }, 'what is kept of a removed camera could not be deleted')
    }
  }

  /** Takes its time, and nobody waits for it: what a stop of the server leaves over goes at the next start. */
  #removeFootage(cameraId: number): void {
    const { catalog, log } = this.#options
    catalog.removeCamera(cameraId).catch((error) => {
      log.error({ camera: cameraId, error: errorChain(error) }, 'the footage of a removed camera could not be deleted')
    })
  }

  /** Cameras that were removed while the server was stopped. */
  async #removeForgottenFootage(): Promise<void> {
    const { store, onRemoved } = this.#options
    const known = new Set((await store.cameras.list()).map(({ id }) => id))
    for (const id of await store.segments.listCameraIds()) {
      if (known.has(id)) continue
      this.#removeFootage(id)
      await onRemoved(id)
    }
  }

  #do(failure: string, work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((error) => {
      this.#options.log.error({ error: errorChain(error) }, failure)
    })
  }
}

function isSameJob(a: CameraJob, b: CameraJob): boolean {
  const isSameRecording = (a.recording === undefined) === (b.recording === undefined)
  const isSameSource = a.url === b.url && a.username === b.username && a.password === b.password
  return isSameSource && a.tellsAll === b.tellsAll && a.keepsDamaged === b.keepsDamaged && isSameRecording
}

// All cameras of this server. Keeps them in step with the store (which are connected, recorded or deleted) and passes
// each the reports of its worker.

import type { GapReason } from '../../contract/gap-reasons.ts'
import type { FootageGap } from '../archive/catalog.ts'
import { errorChain } from '../base/error.ts'
import { repeat } from '../base/repeat.ts'
import { SerialQueue } from '../base/serial-queue.ts'
import { addCounters, type CameraFigures, noCounters } from '../model/camera-figures.ts'
import type { CameraLease } from '../model/camera-lease.ts'
import type { GapMark } from '../model/gap-mark.ts'
import { isRecordedAt } from '../model/recording-run.ts'
import type { Camera as CameraRow } from '../store/cameras/cameras.ts'
import type { Recording } from '../store/cameras/recordings.ts'
import type { Store } from '../store/store.ts'
import { Camera, type CameraHistory, type CameraServices } from './camera.ts'
import type { CameraLeases } from './camera-leases.ts'
import type { CountersOfCamera } from './camera-meter.ts'
import type { CameraReport } from './media-workers.ts'
import type { CameraJob } from './worker-protocol.ts'

export type CameraRegistryOptions = Omit<CameraServices, 'writes' | 'onLostLease'> & {
  readonly store: Pick<
    Store,
    'cameras' | 'recordings' | 'gapMarks' | 'segments' | 'users' | 'events' | 'cameraFigures' | 'fenced' | 'onChange'
  >
  /** Which cameras are those of this server. Undefined: all, because there are no other servers. */
  readonly leases?: Pick<CameraLeases, 'find' | 'ids' | 'onChange' | 'doubt' | 'giveBack'> | undefined
}

/** How late a recording with a fixed end may stop. */
const recordingEndMs = 500
const retryIntervalMs = 1000
const lookIntervalMs = 1000
const figuresIntervalMs = 30_000
const cleaningIntervalMs = 3_600_000

type Status = 'online' | 'offline' | 'unknown'

/** Returns why a new recorder has no footage before its own. */
type FindStartReason = (camera: Camera) => Promise<GapReason>

const startedByUser: FindStartReason = async () => 'stopped_by_user'
const startedWithServer: FindStartReason = (camera) => camera.findStartReason('server_down')

export class CameraRegistry {
  readonly #options: CameraRegistryOptions
  readonly #services: CameraServices
  /** Includes cameras that are being removed, until their footage is closed. */
  readonly #cameras = new Map<number, Camera>()
  readonly #removing = new Map<Camera, Promise<void>>()
  readonly #writes = new SerialQueue()
  /** Cameras to read from the store again; undefined for all. */
  #toReconcile: Set<number> | undefined = new Set()
  #isReconcilePending = false
  /** When recordings with a fixed end stop, Unix milliseconds, by camera id. */
  readonly #ends = new Map<number, number>()
  /** Counters of removed cameras. */
  #formerCounters = noCounters
  #leaveStore: (() => void) | undefined
  #isClosed = false

  constructor(options: CameraRegistryOptions) {
    this.#options = options
    this.#services = { ...options, writes: this.#writes, onLostLease: () => options.leases?.doubt() }
  }

  /** Starts all cameras in the store, then follows its changes. */
  async open(): Promise<void> {
    const { store, leases } = this.#options
    await this.#resetStatus()
    await this.#reconcileAll(startedWithServer, await store.events.listOutages())
    await this.#removeForgotten()
    leases?.onChange((cameraIds) => {
      for (const id of cameraIds) this.#scheduleReconcile(id)
    })
    this.#leaveStore = store.onChange((change) => {
      if (typeof change === 'object') this.#scheduleReconcile(change.camera)
      else if (change === 'accounts' || change === 'foreign') this.#scheduleReconcile()
    })
  }

  /** Undefined if the camera does not exist or has been removed. */
  find(cameraId: number): Camera | undefined {
    return this.#cameras.get(cameraId)
  }

  /** Takes a report of a worker. */
  take(report: CameraReport): void {
    const cameraId = report.type === 'segment_opened' ? report.segment.cameraId : report.cameraId
    this.#cameras.get(cameraId)?.take(report)
  }

  /** Takes a worker's counters of its cameras. */
  takeCounters(counters: readonly CountersOfCamera[]): void {
    for (const each of counters) this.#cameras.get(each.cameraId)?.takeCounters(each)
  }

  /** A worker that ran these cameras has crashed. */
  takeWorkerLoss(cameraIds: readonly number[]): void {
    for (const cameraId of cameraIds) this.#cameras.get(cameraId)?.takeWorkerLoss()
  }

  /** A camera has footage again after a gap. */
  takeGap(gap: FootageGap): void {
    this.#cameras.get(gap.cameraId)?.takeGap(gap)
  }

  /** Undefined until something has been counted for the camera. */
  findFigures(cameraId: number): CameraFigures | undefined {
    return this.#cameras.get(cameraId)?.figures()
  }

  async listGapMarks(cameraId: number, startMs: number, endMs: number): Promise<GapMark[]> {
    return (await this.#cameras.get(cameraId)?.listGapMarks(startMs, endMs)) ?? []
  }

  /** Number of cameras by status; `reason` is empty unless they are offline. */
  stats(): { status: Status; reason: string; cameras: number }[] {
    const groups = new Map<string, { status: Status; reason: string; cameras: number }>()
    for (const camera of this.#cameras.values()) {
      if (this.#removing.has(camera)) continue
      const reported = camera.status
      const status = reported === undefined || reported.state === 'connecting' ? 'unknown' : reported.state
      const reason = reported?.state === 'offline' ? reported.reason : ''
      const group = groups.get(status + reason) ?? { status, reason, cameras: 0 }
      group.cameras++
      groups.set(status + reason, group)
    }
    return [...groups.values()]
  }

  /** Sums over all cameras, without naming any. */
  figureStats(): { readonly freezes: number; readonly frozenMs: number; readonly losing: number } {
    let total = this.#formerCounters
    let losing = 0
    for (const { meter } of this.#cameras.values()) {
      total = addCounters(total, meter.total)
      if (meter.isLosing) losing++
    }
    return { freezes: total.freezes, frozenMs: total.frozenMs, losing }
  }

  /** Background tasks that run until the server stops, by their name in the log. */
  get tasks(): Record<string, (signal: AbortSignal) => Promise<void>> {
    return {
      'ends of recordings': (signal) => this.#repeat(recordingEndMs, signal, () => this.#endRecordings()),
      'changes that could not be read': (signal) => this.#repeat(retryIntervalMs, signal, () => this.#retry()),
      'events of cameras': (signal) => this.#watch(signal),
      'figures of cameras': (signal) => this.#repeat(figuresIntervalMs, signal, () => this.#writeFigures()),
      'reasons of gaps': (signal) => this.#repeat(cleaningIntervalMs, signal, () => this.#clean(signal)),
      ...(this.#options.leases && {
        'cameras that were deleted': (signal) =>
          this.#repeat(cleaningIntervalMs, signal, () => this.#removeForgotten()),
      }),
    }
  }

  /** Stops following the store and writes what was reported so far. Call after the workers have ended. */
  async close(): Promise<void> {
    const { events } = this.#options
    this.#isClosed = true
    this.#leaveStore?.()
    await this.#writes.idle()
    await Promise.all(this.#removing.values())
    await Promise.all([...this.#cameras.values()].map((camera) => camera.flush()))
    await events.flush()
    await this.#resetStatus()
  }

  /** Of the cameras of this server: whether they can be reached is not known before and after it runs. */
  async #resetStatus(): Promise<void> {
    const { store, leases } = this.#options
    await store.cameras.resetStatus(leases?.ids())
    await store.recordings.resetStatus(leases?.ids())
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { events, outageMails, log } = this.#options
    await this.#repeat(lookIntervalMs, signal, () => {
      for (const camera of this.#cameras.values()) camera.look()
      outageMails?.look()
      events.send()
    })
    await events.flush()
    const { waiting } = events.stats()
    if (waiting > 0) log.error({ events: waiting }, 'camera events were lost')
  }

  #endRecordings(): void {
    const nowMs = this.#options.clock.nowMs()
    for (const [cameraId, endMs] of this.#ends) if (nowMs >= endMs) this.#scheduleReconcile(cameraId)
  }

  async #writeFigures(): Promise<void> {
    const { store, log } = this.#options
    const figures = new Map<number, CameraFigures>()
    const leases = new Map<number, CameraLease>()
    for (const camera of this.#cameras.values()) {
      const own = camera.figures()
      if (own) figures.set(camera.id, own)
      if (camera.lease) leases.set(camera.id, camera.lease)
    }
    await store.cameraFigures.write(figures, leases).catch((error: unknown) => {
      log.warn({ error: errorChain(error) }, 'the statistics of cameras could not be stored')
    })
  }

  async #clean(signal: AbortSignal): Promise<void> {
    for (const camera of [...this.#cameras.values()]) if (!signal.aborted) await camera.clean()
  }

  /** Schedules one camera, or all. */
  #scheduleReconcile(cameraId?: number): void {
    if (cameraId === undefined) this.#toReconcile = undefined
    else this.#toReconcile?.add(cameraId)
    if (this.#isReconcilePending) return
    this.#isReconcilePending = true
    void this.#writes
      .run(async () => {
        this.#isReconcilePending = false
        const ids = this.#toReconcile
        this.#toReconcile = new Set()
        if (ids === undefined) await this.#reconcileAll(startedByUser)
        else for (const id of ids) await this.#reconcileOne(id)
      })
      .catch((error) => {
        // It is unknown which cameras could not be read, so `#retry` reads all of them.
        this.#toReconcile = undefined
        this.#options.log.error(
          { error: errorChain(error) },
          'the cameras could not be read from the store; trying again',
        )
      })
  }

  /** Reads the cameras again after the store could not be read. */
  #retry(): void {
    if (this.#toReconcile === undefined) this.#scheduleReconcile()
  }

  async #reconcileOne(id: number): Promise<void> {
    if (this.#isClosed) return
    const { cameras, recordings, users, events } = this.#options.store
    const row = await cameras.find(id)
    if (!row) return this.#remove(id)
    const { isOwner } = await users.get(row.ownerId)
    // A camera that was taken from another server may have an outage that that one has reported.
    const isTaken = this.#options.leases?.find(id)?.gapReason !== undefined && !this.#cameras.has(id)
    const outageSinceMs = isTaken ? (await events.listOutages()).get(id) : undefined
    const options = { canSeeProblems: isOwner, findStartReason: startedByUser, outageSinceMs }
    await this.#apply(row, await recordings.find(id), options)
  }

  async #reconcileAll(findStartReason: FindStartReason, outages?: ReadonlyMap<number, number>): Promise<void> {
    if (this.#isClosed) return
    const { cameras, recordings, users } = this.#options.store
    const rows = await cameras.list()
    const recorded = new Map((await recordings.list()).map((recording) => [recording.cameraId, recording]))
    const owners = new Set((await users.list()).flatMap(({ id, isOwner }) => (isOwner ? [id] : [])))
    for (const row of rows) {
      const canSeeProblems = owners.has(row.ownerId)
      const outageSinceMs = outages?.get(row.id)
      await this.#apply(row, recorded.get(row.id), { canSeeProblems, findStartReason, outageSinceMs })
    }
    const wanted = new Set(rows.map(({ id }) => id))
    for (const id of this.#cameras.keys()) if (!wanted.has(id)) this.#remove(id)
  }

  async #apply(
    row: CameraRow,
    recording: Recording | undefined,
    { canSeeProblems, findStartReason, outageSinceMs }: ApplyOptions,
  ): Promise<void> {
    const { id, ownerId, url, username, password, keepsDamaged } = row
    const { leases } = this.#options
    const lease = leases?.find(id)
    const known = this.#cameras.get(id)
    if (known && known.lease?.epoch !== lease?.epoch) return this.#release(known)
    // It was added just now, or is that of another server, or to be.
    if (leases && !lease) return leases.giveBack(id)
    const camera = known ?? this.#add(id, { snapshotAtMs: row.snapshotAtMs, outageSinceMs }, lease)
    if (!known && lease?.gapReason === 'node_lost') await camera.dropSnapshot()
    const { gapReason } = lease ?? {}
    const isTaken = !known && gapReason !== undefined
    const findReason = isTaken ? () => camera.findStartReason(gapReason) : findStartReason
    const isRecorded = recording !== undefined && isRecordedAt(recording, this.#options.clock.nowMs())
    const notBeforeMs = isRecorded && !known ? await this.#findRecordedUntil(id, isTaken) : undefined
    if (isRecorded && recording.recordsUntilMs !== null) this.#ends.set(id, recording.recordsUntilMs)
    else this.#ends.delete(id)
    const job: CameraJob = {
      cameraId: id,
      ...{ ownerId, canSeeProblems, url },
      ...(username !== null && { username }),
      ...(password !== null && { password }),
      ...(keepsDamaged && { keepsDamaged }),
      recording: isRecorded
        ? {
            startReason: await findReason(camera),
            ...(lease && { leaseEpoch: lease.epoch }),
            ...(notBeforeMs !== undefined && { notBeforeMs }),
          }
        : undefined,
    }
    camera.setJob(job)
  }

  /**
   * Until when the camera was recorded before, by this server or, if it is taken, by another one. It may begin with frames of
   * then. Where a file that a crash left open ends is not known yet, but it ended before now.
   */
  async #findRecordedUntil(id: number, isTaken: boolean): Promise<number | undefined> {
    const { catalog, clock } = this.#options
    const endMs = (await catalog.findLast(id))?.endMs
    if (isTaken || endMs === undefined) return endMs
    const nowMs = clock.nowMs()
    return catalog.repair.hasPending(id) ? nowMs : Math.min(endMs, nowMs)
  }

  #add(id: number, history: CameraHistory, lease?: CameraLease): Camera {
    const camera = new Camera(id, history, this.#services, lease)
    this.#cameras.set(id, camera)
    return camera
  }

  /** Does not wait: the camera waits until its files on disk are closed. */
  #remove(id: number): void {
    const camera = this.#cameras.get(id)
    if (camera) this.#forget(camera, (each) => each.remove())
  }

  /** Another server has the camera. It is looked at again afterwards: this one may have it again. */
  #release(camera: Camera): void {
    const release = async () => {
      await camera.release()
      this.#options.leases?.giveBack(camera.id)
    }
    this.#forget(camera, release, () => this.#scheduleReconcile(camera.id))
  }

  #forget(camera: Camera, end: (camera: Camera) => Promise<void>, onEnd = () => {}): void {
    const { id } = camera
    if (this.#removing.has(camera)) return
    this.#ends.delete(id)
    const removal = end(camera).finally(() => {
      this.#formerCounters = addCounters(this.#formerCounters, camera.meter.total)
      this.#cameras.delete(id)
      this.#removing.delete(camera)
      onEnd()
    })
    this.#removing.set(camera, removal)
  }

  /** Removes cameras that were deleted while no server had them. */
  async #removeForgotten(): Promise<void> {
    const { segments, cameras } = this.#options.store
    const ids = await segments.listCameraIds()
    const known = new Set(await cameras.listIds())
    for (const id of ids) {
      if (known.has(id) || this.#cameras.has(id)) continue
      this.#add(id, { snapshotAtMs: null })
      this.#remove(id)
    }
  }

  /** The first run comes after one interval. */
  #repeat(intervalMs: number, signal: AbortSignal, work: () => void | Promise<void>): Promise<void> {
    return repeat(work, { clock: this.#options.clock, signal, intervalMs, isDelayed: true })
  }
}

type ApplyOptions = {
  /** True if its account owns the server. See `CameraJob`. */
  readonly canSeeProblems: boolean
  readonly findStartReason: FindStartReason
  readonly outageSinceMs?: number | undefined
}

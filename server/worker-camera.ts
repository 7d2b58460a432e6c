// One camera inside a media worker: its connection feeds its hub, and its recorder reads the hub while recording is on.

import type { AsyncLocalStorage } from 'node:async_hooks'
import type { GapReason } from '../contract/gap-reasons.ts'
import type { ByteBudget } from './base/byte-budget.ts'
import { errorChain } from './base/error.ts'
import { SerialQueue } from './base/serial-queue.ts'
import { supervise } from './base/supervise.ts'
import { Timer } from './base/timer.ts'
import type { CountersOfCamera } from './cameras/camera-meter.ts'
import type { CameraJob, FromWorker, WorkerSettings, WorkerStats } from './cameras/worker-protocol.ts'
import { CameraHub } from './hub/camera-hub.ts'
import { FrameMeter } from './hub/frame-meter.ts'
import type { HubItem } from './hub/hub-item.ts'
import { type CameraStats, createCameraStats } from './ingest/frames/camera-stats.ts'
import { KeyIntervals } from './ingest/frames/key-intervals.ts'
import type { IngestContext } from './ingest/ingest-context.ts'
import { guardFor } from './ingest/network/address-guard.ts'
import { runCamera } from './ingest/session/camera-session.ts'
import { Demand } from './ingest/session/demand.ts'
import { CameraRecorder } from './recorder/recorder.ts'
import type { RecordingTargets } from './recorder/recording-targets.ts'

export type WorkerCameraOptions = {
  readonly cameraId: number
  /** Carries the camera's id through everything that its connection calls. */
  readonly scope: AsyncLocalStorage<number>
  readonly settings: WorkerSettings
  /** Shared by the whole thread. */
  readonly context: IngestContext
  /** What all hubs of the thread may keep together. */
  readonly gopBudget: ByteBudget
  readonly earlierBudget: ByteBudget
  readonly post: (message: FromWorker) => void
  /** The places for recordings; shared by the whole thread. */
  readonly targets: RecordingTargets
  /** What all recorders of the thread may buffer together. */
  readonly pendingBudget: ByteBudget
}

/** If a camera's clock is wrong by less than this, its frames are retimed without an event. */
const wrongRate = 0.01

/** How long an unused camera stays connected after its first key frame, to learn its key frame interval. */
const maxLearningMs = 75_000

type Connection = { readonly controller: AbortController; readonly ended: Promise<void> }
type Recording = { readonly recorder: CameraRecorder; readonly detach: () => void }

export class WorkerCamera {
  readonly hub: CameraHub
  /** Counters over all connections of this camera. */
  readonly stats: CameraStats = createCameraStats()
  readonly #meter = new FrameMeter()
  readonly #options: WorkerCameraOptions
  #job: CameraJob | undefined
  #connection: Connection | undefined
  #recording: Recording | undefined
  readonly #demand = new Demand(false)
  readonly #keyIntervals = new KeyIntervals()
  /** The wait for the second key frame of a camera whose interval is unknown. */
  readonly #learning: Timer
  #viewers = 0
  #recordedBytes = 0
  #droppedFrames = 0
  /**
   * The group of pictures in which the last recorder ended. It must not be recorded twice if the next recorder begins
   * soon.
   */
  #recordedGroup: number | undefined
  /** The last reported clock rate. */
  #isClockWrong = false
  /** Changes are applied one after the other: a connection or file must end before the next begins. */
  readonly #changes = new SerialQueue()

  constructor(options: WorkerCameraOptions) {
    this.#options = options
    this.#learning = new Timer(options.context.clock)
    this.hub = new CameraHub({
      gopBudget: options.gopBudget,
      earlierBudget: options.earlierBudget,
      onSinkError: (error) =>
        options.context.log.error({ error: errorChain(error) }, "a reader of the camera's frames failed"),
    })
    this.hub.attach(this.#meter)
  }

  counters(): CameraStats & CountersOfCamera {
    const { freezes, frozenMs } = this.#meter
    return { cameraId: this.#options.cameraId, ...this.stats, freezes, frozenMs }
  }

  /** Connects, or adapts what is running to the job. */
  setJob(job: CameraJob): void {
    this.#change(async () => {
      const isSameSource =
        this.#job?.url === job.url && this.#job.username === job.username && this.#job.password === job.password
      this.#job = job
      this.#updateDemand()
      if (!isSameSource) {
        await this.#disconnect()
        this.#connection = this.#connect(job)
      }
      if (job.recording && !this.#recording) this.#startRecording(job.recording)
      else if (!job.recording) await this.#stopRecording('stopped_by_user')
    })
  }

  /** Adds a viewer; the camera stays connected while there are any. Returns the function that removes the viewer. */
  watch(): () => void {
    let isWatching = true
    this.#viewers++
    this.#updateDemand()
    return () => {
      if (!isWatching) return
      isWatching = false
      this.#viewers--
      this.#updateDemand()
    }
  }

  /** Disconnects and finishes the open file; `reason` is recorded. */
  async close(reason: GapReason): Promise<void> {
    this.#change(async () => {
      await this.#stopRecording(reason)
      await this.#disconnect()
    })
    await this.#changes.idle()
  }

  recorderStats(): Pick<WorkerStats, 'recordedBytes' | 'droppedFrames' | 'pendingBytes' | 'diskWaitMs'> {
    const now = this.#recording?.recorder.stats()
    return {
      recordedBytes: this.#recordedBytes + (now?.bytes ?? 0),
      droppedFrames: this.#droppedFrames + (now?.droppedFrames ?? 0),
      pendingBytes: now?.pendingBytes ?? 0,
      diskWaitMs: now?.diskWaitMs ?? 0,
    }
  }

  /** See `CameraRecorder.tick`. */
  tick(): void {
    this.#recording?.recorder.tick()
    this.#reportClock()
  }

  #reportClock(): void {
    const rate = this.stats.clockRate
    const isWrong = Math.abs(rate - 1) >= wrongRate
    if (isWrong === this.#isClockWrong) return
    this.#isClockWrong = isWrong
    this.#options.post({ type: 'camera_clock', cameraId: this.#options.cameraId, rate: isWrong ? rate : 1 })
  }

  #updateDemand(): void {
    this.#demand.set(this.#viewers > 0 || this.#job?.recording !== undefined || this.#learning.isRunning)
  }

  #publish(item: HubItem): void {
    const { cameraId, post } = this.#options
    const isKey = item.kind === 'video' && item.isKey
    if (isKey || item.kind === 'start' || item.kind === 'end') {
      const intervalMs = this.#keyIntervals.take(item)
      if (intervalMs !== undefined) post({ type: 'key_interval', cameraId, intervalMs })
      if (item.kind === 'end' || this.#keyIntervals.isKnown) this.#endLearning()
      else if (isKey) this.#learn()
    }
    this.hub.publish(item)
  }

  /** Stays connected until the next key frame, once. */
  #learn(): void {
    if (this.#learning.isRunning) return
    this.#learning.start(maxLearningMs, () => this.#updateDemand())
    this.#updateDemand()
  }

  #endLearning(): void {
    if (!this.#learning.isRunning) return
    this.#learning.stop()
    this.#updateDemand()
  }

  #change(work: () => Promise<void>): void {
    this.#changes.run(work).catch((error) => {
      this.#options.context.log.error({ error: errorChain(error) }, 'a change to the camera failed')
    })
  }

  #connect(job: CameraJob): Connection {
    const { cameraId, scope, context, post } = this.#options
    const { clock, log, addressGuard } = context
    const controller = new AbortController()
    const { url, username, password } = job
    const target = {
      cameraId,
      url,
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
    }
    const run = (signal: AbortSignal) =>
      runCamera({
        target,
        publish: (item) => this.#publish(item),
        onStatus: (status) => post({ type: 'camera_status', cameraId, status }),
        context: { ...context, addressGuard: guardFor(job.ownerId, addressGuard) },
        demand: this.#demand,
        keepsDamaged: () => this.#job?.keepsDamaged === true,
        canSeeProblems: () => this.#job?.canSeeProblems === true,
        signal,
        stats: this.stats,
      })
    const ended = scope.run(cameraId, supervise, run, {
      signal: controller.signal,
      clock,
      onFailure: (error) => log.error({ error: errorChain(error) }, 'the camera session failed'),
    })
    return { controller, ended }
  }

  async #disconnect(): Promise<void> {
    const connection = this.#connection
    this.#connection = undefined
    connection?.controller.abort('stream_changed' satisfies GapReason)
    await connection?.ended
  }

  #startRecording({ startReason, leaseEpoch, notBeforeMs }: NonNullable<CameraJob['recording']>): void {
    const { cameraId, settings, context, post, targets, pendingBudget } = this.#options
    const { clock, log } = context
    const recorder = new CameraRecorder({
      cameraId,
      targets,
      syncIntervalMs: settings.syncIntervalMs,
      pendingBudget,
      clock,
      log,
      startReason,
      leaseEpoch,
      notBeforeMs,
      events: {
        segmentOpened: (segment) => post({ type: 'segment_opened', segment }),
        fragmentWritten: (_, path, fragment) => post({ type: 'fragment_written', cameraId, path, fragment }),
        segmentClosed: (_, path, checksum, indexBytes) =>
          post({ type: 'segment_closed', cameraId, path, checksum, indexBytes }),
        segmentBroken: (_, path, confirmed) => post({ type: 'segment_broken', cameraId, path, confirmed }),
        statusChanged: (_, status, detail) => post({ type: 'recording_status', cameraId, status, detail }),
        gapChanged: (_, reason) => post({ type: 'recording_gap', cameraId, atMs: clock.nowMs(), reason }),
      },
    })
    this.#recording = { recorder, detach: this.hub.attach(recorder, { knownGroup: this.#recordedGroup }) }
  }

  async #stopRecording(reason: GapReason): Promise<void> {
    const recording = this.#recording
    if (!recording) return
    this.#recording = undefined
    recording.detach()
    this.#recordedGroup = this.hub.group
    await recording.recorder.close(reason)
    const { bytes, droppedFrames } = recording.recorder.stats()
    this.#recordedBytes += bytes
    this.#droppedFrames += droppedFrames
  }
}

/** The metrics of a worker that its cameras provide. */
type CameraSums = Omit<WorkerStats, 'loopDelayMs' | 'audioBlocks' | 'droppedAudio' | 'audioCrashes'>

export function sumCameraStats(cameras: Iterable<WorkerCamera>): CameraSums {
  const sum = {
    cameras: 0,
    packets: 0,
    lostPackets: 0,
    videoFrames: 0,
    receivedBytes: 0,
    connections: 0,
    recordedBytes: 0,
    droppedFrames: 0,
    pendingBytes: 0,
    diskWaitMs: 0,
  }
  for (const camera of cameras) {
    const { recordedBytes, droppedFrames, pendingBytes, diskWaitMs } = camera.recorderStats()
    sum.cameras++
    sum.packets += camera.stats.packets
    sum.lostPackets += camera.stats.lostPackets
    sum.videoFrames += camera.stats.videoFrames
    sum.receivedBytes += camera.stats.receivedBytes
    sum.connections += camera.stats.connections
    sum.recordedBytes += recordedBytes
    sum.pendingBytes += pendingBytes
    sum.diskWaitMs = Math.max(sum.diskWaitMs, diskWaitMs)
    sum.droppedFrames += droppedFrames + camera.stats.droppedFrames
  }
  return sum
}

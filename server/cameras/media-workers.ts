// The main thread's side of the media workers: starts them, spreads the cameras over them, restarts one that dies.
//
// A camera belongs to one worker by its id. What a worker must know (jobs, subscriptions) is kept here, so that a new
// worker that replaces a dead one receives the whole state again.

import { Worker } from 'node:worker_threads'
import type { GapReason } from '../../contract/gap-reasons.ts'
import type { Clock } from '../base/clock.ts'
import { AppError, errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import type { ClockStart } from '../base/start-clock.ts'
import { supervise } from '../base/supervise.ts'
import { createAlarm, wake } from '../base/thread-rest.ts'
import type { LiveChunk, LiveFormat } from '../live/live-source.ts'
import type { LiveSubscriber, LiveSubscription } from '../live/live-streams.ts'
import type { Place } from '../model/place.ts'
import type { CountersOfCamera } from './camera-meter.ts'
import { CameraSuspensions } from './camera-suspensions.ts'
import type {
  Answer,
  AnswerTo,
  CameraJob,
  FromWorker,
  Question,
  ToWorker,
  WorkerSettings,
  WorkerStart,
  WorkerStats,
} from './worker-protocol.ts'

/** What the workers report of cameras and recordings; chunks of live streams go straight to their subscriber. */
export type CameraReport = Exclude<
  FromWorker,
  { type: 'chunk' | 'stats' | 'stopped' | 'camera_removed' | 'answered' | 'worker_failed' | 'place_full' }
>

export type MediaWorkersOptions = {
  readonly count: number
  readonly settings: WorkerSettings
  /** Where recordings go now. */
  readonly places: () => readonly Place[]
  readonly clock: Clock & { readonly start?: ClockStart | undefined }
  readonly log: Logger
  readonly onReport: (report: CameraReport) => void
  /** What a worker has counted of its cameras; every few seconds. */
  readonly onCounters?: (counters: readonly CountersOfCamera[]) => void
  readonly onPlaceFull?: (placeId: number) => void
  /** A worker died: these cameras' open segments must be repaired before their new worker opens others. */
  readonly onWorkerLost: (cameraIds: readonly number[]) => Promise<void>
  /** How long a camera is not run that ended a worker twice; see camera-suspensions.ts. */
  readonly firstSuspensionMs?: number
  /** What a worker runs; default: worker.ts. */
  readonly workerFile?: URL
}

type Subscription = {
  readonly cameraId: number
  readonly format: LiveFormat
  readonly minIntervalMs: number | undefined
  readonly onChunk: (chunk: LiveChunk) => void
}

/** A worker asked to stop that has not ended by then is terminated. */
const stopTimeoutMs = 10_000

export class MediaWorkers implements LiveSubscriber {
  readonly #slots: WorkerSlot[]
  readonly #controller = new AbortController()
  #nextSubscriptionId = 1
  #nextQuestionId = 1

  constructor(options: MediaWorkersOptions) {
    this.#slots = Array.from({ length: options.count }, (_, index) => new WorkerSlot(index, options))
  }

  /** Starts the workers. Resolves when all have ended after `stop`. */
  async run(): Promise<void> {
    await Promise.all(this.#slots.map((slot) => slot.run(this.#controller.signal)))
  }

  setCamera(job: CameraJob): void {
    this.#findSlot(job.cameraId).setCamera(job)
  }

  /** Call it when the places have changed. */
  updatePlaces(): void {
    for (const slot of this.#slots) slot.updatePlaces()
  }

  /** Resolves when the camera's connection is closed and its last segment is complete. */
  removeCamera(cameraId: number, reason: GapReason = 'stopped_by_user'): Promise<void> {
    return this.#findSlot(cameraId).removeCamera(cameraId, reason)
  }

  subscribe(
    cameraId: number,
    format: LiveFormat,
    onChunk: (chunk: LiveChunk) => void,
    { minIntervalMs }: { minIntervalMs?: number } = {},
  ): LiveSubscription {
    const slot = this.#findSlot(cameraId)
    const subscriptionId = this.#nextSubscriptionId++
    slot.subscribe(subscriptionId, { cameraId, format, minIntervalMs, onChunk })
    return {
      ack: (bytes) => slot.send({ type: 'ack', subscriptionId, bytes }),
      close: () => slot.unsubscribe(subscriptionId),
    }
  }

  /** Asks a worker. Rejects with 'unavailable' when it ends over it, or with the signal's reason. */
  async ask<Q extends Question>(question: Q, signal: AbortSignal): Promise<AnswerTo<Q>> {
    const questionId = this.#nextQuestionId++
    // A worker answers what it was asked.
    return (await this.#slots[questionId % this.#slots.length]!.ask(questionId, question, signal)) as AnswerTo<Q>
  }

  /** Ends all cameras; open fragments are finished and their index rows reported before this resolves. */
  async stop(): Promise<void> {
    this.#controller.abort(new Error('the server is stopping'))
    await Promise.all(this.#slots.map((slot) => slot.stopped))
  }

  stats(): readonly WorkerStats[] {
    return this.#slots.flatMap((slot) => (slot.stats ? [slot.stats] : []))
  }

  health(): { count: number; running: number; restarts: number } {
    const running = this.#slots.filter(({ isRunning }) => isRunning).length
    return {
      count: this.#slots.length,
      running,
      restarts: this.#slots.reduce((sum, { restarts }) => sum + restarts, 0),
    }
  }

  #findSlot(cameraId: number): WorkerSlot {
    return this.#slots[cameraId % this.#slots.length]!
  }
}

class WorkerSlot {
  readonly #log: Logger
  readonly #options: MediaWorkersOptions
  readonly #jobs = new Map<number, CameraJob>()
  readonly #subscriptions = new Map<number, Subscription>()
  readonly #removals = new Map<number, PromiseWithResolvers<void>>()
  readonly #questions = new Map<number, PromiseWithResolvers<Answer>>()
  readonly #stopped = Promise.withResolvers<void>()
  readonly #alarm = createAlarm()
  #worker: Worker | undefined
  stats: WorkerStats | undefined
  /** Times it died and was started again. */
  restarts = 0
  readonly #suspensions: CameraSuspensions
  /** The camera that the running worker named as the reason for its end. */
  #faultyCameraId: number | undefined

  constructor(index: number, options: MediaWorkersOptions) {
    this.#options = options
    this.#log = options.log.child({ worker: index })
    const { clock, firstSuspensionMs } = options
    this.#suspensions = new CameraSuspensions({
      clock,
      onEnd: (cameraId) => this.#resume(cameraId),
      ...(firstSuspensionMs !== undefined && { firstMs: firstSuspensionMs }),
    })
  }

  get stopped(): Promise<void> {
    return this.#stopped.promise
  }

  get isRunning(): boolean {
    return this.#worker !== undefined
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    try {
      await supervise((runSignal) => this.#runWorker(runSignal), {
        signal,
        clock,
        minMs: 200,
        maxMs: 10_000,
        onFailure: (error, delayMs) =>
          this.#log.error({ error: errorChain(error), delayMs }, 'a media worker crashed and will be restarted'),
      })
    } finally {
      this.#suspensions.close()
      this.#stopped.resolve()
    }
  }

  setCamera(job: CameraJob): void {
    const { cameraId } = job
    const before = this.#jobs.get(cameraId)
    this.#jobs.set(cameraId, job)
    const isSuspended = this.#suspensions.isSuspended(cameraId)
    if (before && !isSameAddress(before, job)) this.#suspensions.forget(cameraId)
    if (!isSuspended) this.send({ type: 'set_camera', job })
    else if (!this.#suspensions.isSuspended(cameraId)) this.#resume(cameraId)
    else if (job.recording) this.#reportSuspendedRecording(cameraId)
  }

  updatePlaces(): void {
    this.send({ type: 'set_places', places: this.#options.places() })
  }

  async removeCamera(cameraId: number, reason: GapReason): Promise<void> {
    this.#suspensions.forget(cameraId)
    if (!this.#jobs.delete(cameraId) || !this.#worker) return
    const removal = Promise.withResolvers<void>()
    this.#removals.set(cameraId, removal)
    this.send({ type: 'remove_camera', cameraId, reason })
    await removal.promise
  }

  subscribe(subscriptionId: number, subscription: Subscription): void {
    this.#subscriptions.set(subscriptionId, subscription)
    this.#sendSubscription(subscriptionId, subscription)
  }

  unsubscribe(subscriptionId: number): void {
    if (this.#subscriptions.delete(subscriptionId)) this.send({ type: 'unsubscribe', subscriptionId })
  }

  async ask(questionId: number, question: Question, signal: AbortSignal): Promise<Answer> {
    signal.throwIfAborted()
    if (!this.#worker) throw unanswered()
    const asked = Promise.withResolvers<Answer>()
    this.#questions.set(questionId, asked)
    const takeBack = () => {
      this.send({ type: 'take_back', questionId })
      asked.reject(signal.reason)
    }
    signal.addEventListener('abort', takeBack, { once: true })
    this.send({ type: 'ask', questionId, question })
    try {
      return await asked.promise
    } finally {
      signal.removeEventListener('abort', takeBack)
      this.#questions.delete(questionId)
    }
  }

  send(message: ToWorker): void {
    if (!this.#worker) return
    this.#worker.postMessage(message)
    wake(this.#alarm)
  }

  async #runWorker(signal: AbortSignal): Promise<void> {
    const { workerFile = new URL('../worker.ts', import.meta.url), settings, places, clock } = this.#options
    const workerData: WorkerStart = { ...settings, places: places(), clockStart: clock.start, alarm: this.#alarm }
    const worker = new Worker(workerFile, { workerData })
    this.#worker = worker
    const ended = Promise.withResolvers<void>()
    let failure: unknown = new Error('the worker ended by itself')
    worker.on('error', (error) => {
      failure = error
    })
    worker.on('exit', () => ended.resolve())
    worker.on('message', (messages: readonly FromWorker[]) => {
      for (const message of messages) this.#receive(message)
    })
    this.#faultyCameraId = undefined
    for (const job of this.#jobs.values()) {
      if (!this.#suspensions.isSuspended(job.cameraId)) this.send({ type: 'set_camera', job })
    }
    for (const [id, subscription] of this.#subscriptions) this.#sendSubscription(id, subscription)

    const stop = () => {
      this.send({ type: 'stop' })
      setTimeout(() => void worker.terminate(), stopTimeoutMs).unref()
    }
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    try {
      await ended.promise
    } finally {
      signal.removeEventListener('abort', stop)
      this.#worker = undefined
      this.stats = undefined
    }
    for (const removal of this.#removals.values()) removal.resolve()
    this.#removals.clear()
    for (const asked of this.#questions.values()) asked.reject(unanswered())
    if (signal.aborted) return
    this.restarts++
    for (const { onChunk } of this.#subscriptions.values()) onChunk(endChunk)
    // What the next worker records comes after a gap that nobody asked for.
    const notBeforeMs = clock.nowMs()
    for (const [id, job] of this.#jobs) {
      if (!job.recording) continue
      this.#jobs.set(id, { ...job, recording: { ...job.recording, startReason: 'server_down', notBeforeMs } })
    }
    await this.#options.onWorkerLost([...this.#jobs.keys()])
    if (this.#faultyCameraId !== undefined) this.#suspend(this.#faultyCameraId)
    throw failure
  }

  #receive(message: FromWorker): void {
    switch (message.type) {
      case 'chunk':
        this.#subscriptions.get(message.subscriptionId)?.onChunk(message.chunk)
        return
      case 'stats':
        this.stats = message.stats
        this.#options.onCounters?.(message.cameras)
        return
      case 'camera_removed':
        this.#removals.get(message.cameraId)?.resolve()
        this.#removals.delete(message.cameraId)
        return
      case 'answered': {
        const asked = this.#questions.get(message.questionId)
        if (message.answer) asked?.resolve(message.answer)
        else asked?.reject(unanswered())
        return
      }
      case 'stopped':
        return
      case 'worker_failed':
        this.#faultyCameraId = message.cameraId
        return
      case 'place_full':
        this.#options.onPlaceFull?.(message.placeId)
        return
      default:
        this.#options.onReport(message)
    }
  }

  /** A worker ended over this camera: when that is not the first time, the next one does without. */
  #suspend(cameraId: number): void {
    const job = this.#jobs.get(cameraId)
    const forMs = job && this.#suspensions.note(cameraId)
    if (forMs === undefined) {
      this.#log.error({ cameraId }, 'the stream of this camera crashed the media worker')
      return
    }
    this.#log.error(
      { cameraId, forMs },
      'the stream of this camera crashed the media worker again; the camera is suspended',
    )
    const detail = `The stream of this camera made a part of the server crash more than once. The server will try again in ${Math.round(forMs / 60_000)} minutes, or at once when the address of the camera is changed: update the firmware of the camera, or choose another of its streams.`
    const status = { state: 'offline', reason: 'camera_suspended', problem: 'suspended', detail } as const
    this.#options.onReport({ type: 'camera_status', cameraId, status })
    if (job?.recording) this.#reportSuspendedRecording(cameraId)
  }

  /** Reports what the recorder of the camera would, which does not run. */
  #reportSuspendedRecording(cameraId: number): void {
    const { onReport, clock } = this.#options
    onReport({ type: 'recording_status', cameraId, status: 'CONNECTING', detail: undefined })
    onReport({ type: 'recording_gap', cameraId, atMs: clock.nowMs(), reason: 'camera_suspended' })
  }

  #resume(cameraId: number): void {
    let job = this.#jobs.get(cameraId)
    if (!job) return
    if (job.recording) job = { ...job, recording: { ...job.recording, startReason: 'camera_suspended' } }
    this.#jobs.set(cameraId, job)
    this.#log.info({ cameraId }, 'the suspension of a camera has ended')
    this.send({ type: 'set_camera', job })
  }

  #sendSubscription(subscriptionId: number, { cameraId, format, minIntervalMs }: Subscription): void {
    this.send({ type: 'subscribe', subscriptionId, cameraId, format, minIntervalMs })
  }
}

const endChunk: LiveChunk = { kind: 'end', isKey: false, wallMs: 0, durationMs: 0, data: new Uint8Array() }

function unanswered(): AppError {
  return new AppError('unavailable', 'the media worker could not answer')
}

function isSameAddress(a: CameraJob, b: CameraJob): boolean {
  return a.url === b.url && a.username === b.username && a.password === b.password
}

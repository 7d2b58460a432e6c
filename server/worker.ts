// A media worker thread: the connections, hubs, recorders and live muxers of its cameras. Wiring only.

import { AsyncLocalStorage } from 'node:async_hooks'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { parentPort, workerData } from 'node:worker_threads'
import type { GapReason } from '../contract/gap-reasons.ts'
import { ByteBudget } from './base/byte-budget.ts'
import { systemClock } from './base/clock.ts'
import { errorChain } from './base/error.ts'
import { createLogger } from './base/log.ts'
import { NameResolver } from './base/names/name-resolver.ts'
import { StartClock } from './base/start-clock.ts'
import { createRest } from './base/thread-rest.ts'
import type { Answer, FromWorker, Question, ToWorker, WorkerStart } from './cameras/worker-protocol.ts'
import { ProcessAudioTranscoder } from './decoder/audio/process-transcoder.ts'
import { ProcessContainerReader } from './decoder/container/process-container-reader.ts'
import { detectStream } from './ingest/detection/detect-stream.ts'
import { findStream } from './ingest/detection/find-stream.ts'
import type { IngestContext } from './ingest/ingest-context.ts'
import { createAddressGuard, guardFor } from './ingest/network/address-guard.ts'
import { ConnectLimiter } from './ingest/network/connect-limiter.ts'
import { SharedReads } from './ingest/network/shared-reads.ts'
import { Standstill } from './ingest/network/standstill.ts'
import { discoverDevices } from './ingest/onvif/discover-devices.ts'
import { readOnvifDevice } from './ingest/onvif/read-device.ts'
import { type LiveSource, openLiveSource } from './live/live-source.ts'
import { FrameMemoryPool } from './media/frame-memory.ts'
import type { Place } from './model/place.ts'
import { createGuardedDisk, type GuardedDisk } from './recorder/guarded-disk.ts'
import { createNodeDisk } from './recorder/recording-disk.ts'
import { SpreadTargets } from './recorder/recording-targets.ts'
import { tickMs } from './recorder/write-queue.ts'
import { sumCameraStats, WorkerCamera } from './worker-camera.ts'
import { WorkerOutbox } from './worker-outbox.ts'

const statsIntervalMs = 5000

/** Half the frame interval of a typical camera, so that live video is delayed by no more. */
const restMs = 20

/**
 * While nobody watches. Longer rests would save more but lead to wrong estimates of camera clocks: see
 * docs/design/ingest.md, Rests.
 */
const longRestMs = 60

/** Bytes of one live subscription that the main thread has not yet consumed. */
const maxUnackedBytes = 8 * 1024 * 1024

/** Memory of an audio or container process beyond its runtime. */
const maxDecodingBytes = 512 * 1024 * 1024

const settings = workerData as WorkerStart
const port = parentPort!
const clock = new StartClock(systemClock, settings.clockStart)
const log = createLogger(settings.logLevel)
const names = new NameResolver({ clock, servers: settings.nameServers })
const addressGuard = createAddressGuard({
  ...settings.addressRules,
  lookupAll: (host, options) => names.lookup(host, options),
})
const connectLimiter = new ConnectLimiter(settings.connectsPerHost)
const targets = new SpreadTargets(clock, log, (placeId) => post({ type: 'place_full', placeId }))
/** By the id and the folder of their places. */
let disks = new Map<string, GuardedDisk>()
setPlaces(settings.places)
// If the disk had more to do than one batch, continue without resting.
const reads = new SharedReads({
  ...{ restMs, longRestMs },
  mayRest: () => {
    for (const disk of disks.values()) if (disk.waiting() > 0) return false
    return true
  },
  rest: createRest(settings.alarm),
  standstill: new Standstill(),
})
const decoding = { isolation: settings.isolation, memoryBytes: Math.min(settings.decodingBytes, maxDecodingBytes) }
const transcoder = new ProcessAudioTranscoder({ clock, log, ...decoding })
const containers = new ProcessContainerReader({ ...decoding, maxStreams: settings.containers })
/** Groups of pictures for new viewers: one second of a typical camera, one minute of a camera with rare key frames. */
const gopBudget = new ByteBudget(settings.groupBytes)
/** Groups of pictures before the current ones. */
const earlierBudget = new ByteBudget(settings.earlierBytes)
const pendingBudget = new ByteBudget(settings.pendingBytes)
/** Free memory that is kept: what about a hundred typical cameras release at once when their groups of pictures end. */
const pool = new FrameMemoryPool(32 * 1024 * 1024)
const context: IngestContext = { clock, log, addressGuard, connectLimiter, reads, transcoder, containers, pool }
const cameras = new Map<number, WorkerCamera>()
/** The id of the camera whose connection the current code belongs to, whatever called it. */
const scope = new AsyncLocalStorage<number>()
const sources = new Map<number, { cameraId: number; source: LiveSource; release: () => void }>()
/** Questions that are being answered. */
const questions = new Map<number, AbortController>()

const outbox = new WorkerOutbox((messages) => port.postMessage(messages))

function post(message: FromWorker): void {
  outbox.post(message)
}

/** Chunks own their memory, which is transferred instead of copied; other values are small. */
function postChunk(subscriptionId: number, chunk: Extract<FromWorker, { type: 'chunk' }>['chunk']): void {
  const { buffer, byteLength } = chunk.data
  const isMovable = chunk.kind === 'media' && byteLength > 0 && byteLength === buffer.byteLength
  port.postMessage(
    [{ type: 'chunk', subscriptionId, chunk }] satisfies FromWorker[],
    isMovable ? [buffer as ArrayBuffer] : [],
  )
}

/** A disk that hangs occupies its share of the operations only. */
function setPlaces(places: readonly Place[]): void {
  const maxOperations = Math.max(1, Math.floor(settings.diskOperations / places.length))
  const { minFreeBytes } = settings
  const before = disks
  disks = new Map()
  targets.replace(
    places.map((place) => {
      const { id, folder, mark } = place
      const key = `${id} ${folder}`
      const options = { folder, mark, minFreeBytes, maxOperations, attend: () => reads.attend(), clock }
      const disk = before.get(key) ?? createGuardedDisk(createNodeDisk(folder), options)
      disks.set(key, disk)
      return { place, target: { placeId: id, folder, disk } }
    }),
  )
}

function cameraOf(cameraId: number): WorkerCamera {
  let camera = cameras.get(cameraId)
  if (!camera) {
    camera = new WorkerCamera({
      cameraId,
      scope,
      settings,
      context,
      gopBudget,
      earlierBudget,
      post,
      targets,
      pendingBudget,
    })
    cameras.set(cameraId, camera)
  }
  return camera
}

function unsubscribe(subscriptionId: number): void {
  const found = sources.get(subscriptionId)
  if (!found) return
  sources.delete(subscriptionId)
  found.source.close()
  found.release()
}

async function removeCamera(cameraId: number, reason: GapReason): Promise<void> {
  for (const [id, { cameraId: of }] of sources) if (of === cameraId) unsubscribe(id)
  const camera = cameras.get(cameraId)
  cameras.delete(cameraId)
  await camera?.close(reason)
  post({ type: 'camera_removed', cameraId })
}

async function answer(questionId: number, question: Question): Promise<void> {
  const asked = new AbortController()
  questions.set(questionId, asked)
  const endAttention = reads.attend()
  try {
    post({ type: 'answered', questionId, answer: await findAnswer(question, asked.signal) })
  } catch (error) {
    if (asked.signal.aborted) return
    log.error({ kind: question.kind, error: errorChain(error) }, 'a question of the main thread could not be answered')
    post({ type: 'answered', questionId, answer: undefined })
  } finally {
    endAttention()
    questions.delete(questionId)
  }
}

async function findAnswer(question: Question, signal: AbortSignal): Promise<Answer> {
  const guarded = { ...context, addressGuard: guardFor(question.account, addressGuard) }
  const options = { ...guarded, signal }
  const { kind } = question
  switch (kind) {
    case 'stream': {
      const { target } = question
      const options = { context: guarded, target, signal }
      return { kind, stream: await (target.isHostAlone ? findStream : detectStream)(options) }
    }
    case 'onvif_devices':
      return {
        kind,
        devices: await discoverDevices({ ...options, includesLoopback: settings.addressRules.allowLoopback }),
      }
    case 'onvif_device':
      return { kind, device: await readOnvifDevice({ ...options, target: question.target }) }
  }
}

async function stop(): Promise<void> {
  clearInterval(statsTimer)
  clearInterval(recorderTimer)
  for (const { source } of sources.values()) source.close()
  for (const asked of questions.values()) asked.abort()
  await Promise.all([...cameras.values()].map((camera) => camera.close('server_down')))
  await transcoder.close()
  post({ type: 'stopped' })
  port.close()
}

// An uncaught error ends the thread, as it must; the main thread learns whose stream caused it.
process.on('uncaughtException', (error) => {
  const cameraId = scope.getStore()
  if (cameraId !== undefined) post({ type: 'worker_failed', cameraId })
  throw error
})

port.on('message', (message: ToWorker) => {
  switch (message.type) {
    case 'set_camera':
      cameraOf(message.job.cameraId).setJob(message.job)
      return
    case 'set_places':
      setPlaces(message.places)
      return
    case 'remove_camera':
      void removeCamera(message.cameraId, message.reason)
      return
    case 'subscribe': {
      const { subscriptionId, cameraId, format, minIntervalMs } = message
      const camera = cameraOf(cameraId)
      const source = openLiveSource({
        hub: camera.hub,
        format,
        maxUnackedBytes,
        ...(minIntervalMs !== undefined && { minIntervalMs }),
        send: (chunk) => postChunk(subscriptionId, chunk),
      })
      const [unwatch, endAttention] = [camera.watch(), reads.attend()]
      const release = () => {
        unwatch()
        endAttention()
      }
      sources.set(subscriptionId, { cameraId, source, release })
      return
    }
    case 'ack':
      sources.get(message.subscriptionId)?.source.ack(message.bytes)
      return
    case 'unsubscribe':
      unsubscribe(message.subscriptionId)
      return
    case 'ask':
      void answer(message.questionId, message.question)
      return
    case 'take_back':
      questions.get(message.questionId)?.abort()
      return
    case 'stop':
      void stop()
  }
})

const loopDelay = monitorEventLoopDelay({ resolution: 20 })
loopDelay.enable()
const statsTimer = setInterval(() => {
  const { blocks: audioBlocks, droppedChunks: droppedAudio, crashes: audioCrashes } = transcoder.stats()
  const audio = { audioBlocks, droppedAudio, audioCrashes }
  post({
    type: 'stats',
    stats: { ...sumCameraStats(cameras.values()), ...audio, loopDelayMs: loopDelay.max / 1e6 },
    cameras: [...cameras.values()].map((camera) => camera.counters()),
  })
  loopDelay.reset()
}, statsIntervalMs)

const recorderTimer = setInterval(() => {
  for (const camera of cameras.values()) camera.tick()
}, tickMs)

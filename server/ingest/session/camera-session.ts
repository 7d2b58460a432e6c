// Keeps one camera connected for as long as it is wanted: connects, publishes its frames, says why when it is lost,
// tries again after a while that grows. The one entry to ingest; a media worker runs one of these per camera.

import { randomUUID } from 'node:crypto'
import type { GapReason } from '../../../contract/gap-reasons.ts'
import type { Clock } from '../../base/clock.ts'
import { errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import type { HubItem } from '../../hub/hub-item.ts'
import type { ContainerReader } from '../../media/container/container-stream.ts'
import type { FrameMemoryPool } from '../../media/frame-memory.ts'
import type { AudioTranscoder } from '../../media/telephony/audio-transcoder.ts'
import { ArrivalClock } from '../clock/arrival-clock.ts'
import { createCameraMemory } from '../connection/camera-memory.ts'
import { type ConnectionLimits, defaultLimits } from '../connection/connection-options.ts'
import { type CameraStats, createCameraStats } from '../frames/camera-stats.ts'
import type { AddressGuard } from '../network/address-guard.ts'
import { type CameraError, hideTrouble, isAboutAddress, toCameraError } from '../network/camera-error.ts'
import { ConnectLimiter } from '../network/connect-limiter.ts'
import { SharedReads } from '../network/shared-reads.ts'
import { runCameraConnection } from './camera-connection.ts'
import { Demand } from './demand.ts'
import { type ReconnectPause, ReconnectPauses } from './reconnect-pause.ts'
import { type SessionStatus, StatusReporter } from './status-reporter.ts'

export type { SessionStatus }

export type CameraTarget = {
  readonly cameraId: number
  /** rtsp://, rtsps://, http:// or https://, without user information. */
  readonly url: string
  readonly username?: string
  readonly password?: string
}

export type RunCameraOptions = {
  readonly target: CameraTarget
  publish(item: HubItem): void
  /**
   * `connecting` once at the start, then `online` and `offline` as they change; `online` again when the format changes.
   */
  onStatus(status: SessionStatus): void
  readonly clock: Clock
  readonly log: Logger
  readonly addressGuard: AddressGuard
  /** Where pictures lie, shared by all cameras of a thread; without, memory is used once. */
  readonly pool?: FrameMemoryPool | undefined
  /** See `NalDepacketizerOptions`. */
  readonly keepsDamaged?: (() => boolean) | undefined
  /** For audio that browsers don't play; without, it is left out. */
  readonly transcoder?: AudioTranscoder | undefined
  /** For streams that come in a container by HTTP; without, they are refused. */
  readonly containers?: ContainerReader | undefined
  /**
   * Ends the session. When its reason is a `GapReason`, that is the reason of the last `end`; else `stopped_by_user`.
   */
  readonly signal: AbortSignal
  /**
   * Whether somebody wants its pictures; always when missing. While nobody does, the camera is connected now and then
   * for a moment.
   */
  readonly demand?: Demand
  /** Shared by all cameras of a thread; one of its own when missing. */
  readonly connectLimiter?: ConnectLimiter
  /** Counted into; pass one to read it. */
  readonly stats?: CameraStats
  /** Shared by all cameras of a thread; of its own when missing. */
  readonly reads?: SharedReads
  readonly limits?: Partial<ConnectionLimits>
  /**
   * Whether its account is told everything about an address in a closed network; else only that no picture comes from
   * there. Always when missing.
   */
  readonly tellsAll?: () => boolean
  readonly random?: () => number
  readonly createRunId?: () => string
}

/** How often a camera that nobody wants is looked at, more or less a quarter. */
const probeMs = 60_000

/** How long a connection outlives its last viewer; and its first picture, when nobody asked for it. */
const lingerMs = 10_000
const probeLingerMs = 2000

/**
 * Reconnects for ever until `signal` aborts, then resolves; never rejects. Publishes `start`, frames, and `end` at each
 * loss. Pauses between connections: reconnect-pause.ts.
 */
export async function runCamera(options: RunCameraOptions): Promise<void> {
  const { signal, clock, demand = new Demand(true), random = Math.random } = options
  const log = options.log.child({ cameraId: options.target.cameraId })
  const teller = new StatusReporter({ onStatus: options.onStatus, clock, log, signal })
  const pauses = new ReconnectPauses(random)
  const connect = createConnect(options, { demand, teller, log })
  while (!signal.aborted) {
    const { error, onlineMs } = await connect()
    if (signal.aborted) return
    const probeDelayMs = probeMs * (0.75 + random() / 2)
    const next = pauses.next({ reason: error?.reason, onlineMs, isFault: error?.kind === 'internal' })
    await pause({ ...next, probeDelayMs, demand, clock, signal })
  }
}

type Pause = ReconnectPause & {
  readonly probeDelayMs: number
  readonly demand: Demand
  readonly clock: Clock
  readonly signal: AbortSignal
}

/**
 * Until the next attempt: longer while nobody wants the camera, ended by the first who does, but not when the camera
 * may lock us out.
 */
async function pause({ delayMs, probeDelayMs, isLockedOut, demand, clock, signal }: Pause): Promise<void> {
  if (demand.isWanted) {
    await clock.sleep(delayMs, signal).catch(() => {})
    return
  }
  const woken = new AbortController()
  const ended = AbortSignal.any([signal, woken.signal])
  const sleep = clock.sleep(Math.max(delayMs, probeDelayMs), ended).catch(() => {})
  await (isLockedOut ? sleep : Promise.race([sleep, demand.changed(ended)]))
  woken.abort()
  await sleep
}

/** `error`: why the connection was lost or never was; undefined when it was ended because nobody wanted it any more. */
type Outcome = { readonly error: CameraError | undefined; readonly onlineMs: number }

type Shared = { readonly demand: Demand; readonly teller: StatusReporter; readonly log: Logger }

/**
 * One connection after the other, sharing what outlives them: the clock of arrivals, the counters, what was learned.
 */
function createConnect(options: RunCameraOptions, { demand, teller, log }: Shared): () => Promise<Outcome> {
  const {
    target,
    publish,
    clock,
    addressGuard,
    transcoder,
    containers,
    pool,
    keepsDamaged,
    signal,
    connectLimiter = new ConnectLimiter(1),
    tellsAll = () => true,
  } = options
  const { stats = createCameraStats(), reads = new SharedReads(), createRunId = randomUUID } = options
  const arrivalClock = new ArrivalClock(clock)
  const { username, password = '' } = target
  const memory = createCameraMemory()
  let logged = ''
  /** The log is for owners of the server; each cause once, however often it is tried again. */
  const logHidden = (error: CameraError) => {
    const cause = errorChain(error)
    if (cause !== logged)
      log.info({ reason: error.reason, cause }, 'the camera cannot be reached; its owner does not see the reason')
    logged = cause
  }
  return async () => {
    memory.runLimit.allowOne()
    let onlineSinceMs: number | undefined
    const idle = new AbortController()
    const ended = AbortSignal.any([signal, idle.signal])
    if (!tellsAll()) teller.tellInTime(hideTrouble(), () => !tellsAll() && !memory.isPublic)
    try {
      return await runCameraConnection({
        ...{
          clock,
          log,
          addressGuard,
          connectLimiter,
          stats,
          reads,
          arrivalClock,
          createRunId,
          publish,
          memory,
          transcoder,
          containers,
          pool,
          keepsDamaged,
        },
        signal: ended,
        floorMs: memory.lastWallMs,
        url: target.url,
        credentials: username ? { username, password } : undefined,
        limits: { ...defaultLimits, ...options.limits },
        onRun: (format) => {
          if (onlineSinceMs === undefined) {
            onlineSinceMs = clock.monotonicMs()
            stats.connections++
            void endWhenIdle(demand, idle, { clock, ended })
          }
          teller.online(format)
        },
      })
    } catch (thrown) {
      const onlineMs = onlineSinceMs === undefined ? 0 : Math.max(1, clock.monotonicMs() - onlineSinceMs)
      const isStopped = signal.aborted
      if (idle.signal.aborted && !isStopped) {
        publish({ kind: 'end', reason: 'stopped_by_user' })
        return { error: undefined, onlineMs }
      }
      const error = toCameraError(thrown)
      if (error.kind === 'internal' && !isStopped) log.error({ cause: errorChain(error) }, 'camera session failed')
      if (onlineMs > 0) publish({ kind: 'end', reason: isStopped ? stopReason(signal) : error.reason })
      if (isStopped) return { error, onlineMs }
      if (onlineMs > 0) teller.lost(error, onlineMs)
      else if (tellsAll() || memory.isPublic || isAboutAddress(error)) teller.failed(error)
      else logHidden(error)
      return { error, onlineMs }
    } finally {
      idle.abort()
    }
  }
}

type IdleContext = { readonly clock: Clock; readonly ended: AbortSignal }

/**
 * Ends a connection through `idle` some time after nobody wants it any more; returns when it has ended for any reason.
 */
async function endWhenIdle(demand: Demand, idle: AbortController, { clock, ended }: IdleContext): Promise<void> {
  let restMs = probeLingerMs
  while (!ended.aborted) {
    if (demand.isWanted) {
      restMs = lingerMs
      await demand.changed(ended)
      continue
    }
    const wanted = new AbortController()
    const isOver = AbortSignal.any([ended, wanted.signal])
    void demand.changed(isOver).then(() => wanted.abort())
    await clock.sleep(restMs, isOver).then(
      () => idle.abort(),
      () => {}, // somebody wants it again, or it is lost
    )
  }
}

const stopReasons: ReadonlySet<unknown> = new Set<GapReason>([
  'stopped_by_user',
  'server_down',
  'overload',
  'disk_full',
  'stream_changed',
])

function stopReason(signal: AbortSignal): GapReason {
  return stopReasons.has(signal.reason) ? signal.reason : 'stopped_by_user'
}

// Keeps one camera connected while it is needed: connects, publishes its frames, reports why a connection was lost, and
// reconnects after pauses that grow. This is the entry point of ingest. A media worker runs one session per camera.

import { randomUUID } from 'node:crypto'
import type { GapReason } from '../../../contract/gap-reasons.ts'
import type { Clock } from '../../base/clock.ts'
import { errorChain } from '../../base/error.ts'
import { pause } from '../../base/pause.ts'
import type { HubItem } from '../../hub/hub-item.ts'
import { ArrivalClock } from '../clock/arrival-clock.ts'
import { createCameraMemory } from '../connection/camera-memory.ts'
import { type ConnectionLimits, defaultLimits } from '../connection/connection-options.ts'
import { type CameraStats, createCameraStats } from '../frames/camera-stats.ts'
import type { IngestContext } from '../ingest-context.ts'
import { type CameraError, createHiddenError, isAboutAddress, toCameraError } from '../network/camera-error.ts'
import { runCameraConnection } from './camera-connection.ts'
import { Demand } from './demand.ts'
import { type ReconnectPause, ReconnectPauses } from './reconnect-pause.ts'
import { type SessionStatus, StatusReporter } from './status-reporter.ts'

export type { SessionStatus }

export type CameraTarget = {
  readonly cameraId: number
  /** An rtsp://, rtsps://, http:// or https:// URL without user information. */
  readonly url: string
  readonly username?: string
  readonly password?: string
}

export type RunCameraOptions = {
  readonly context: IngestContext
  readonly target: CameraTarget
  publish(item: HubItem): void
  /**
   * Reports `connecting` once at the start, then `online` and `offline` at each change, and `online` again when the
   * format changes.
   */
  onStatus(status: SessionStatus): void
  /** See `NalDepacketizerOptions`. */
  readonly keepsDamaged?: (() => boolean) | undefined
  /**
   * Ends the session. If the signal's reason is a `GapReason`, it becomes the reason of the last `end`; otherwise that
   * reason is `stopped_by_user`.
   */
  readonly signal: AbortSignal
  /**
   * Whether the camera's frames are needed. Default: always. While they are not, the camera is only connected briefly
   * from time to time.
   */
  readonly demand?: Demand
  /** The counters of the camera. Pass an object to read them. */
  readonly stats?: CameraStats
  readonly limits?: Partial<ConnectionLimits>
  /**
   * Whether the account may see the exact problem of a camera in a private network. Otherwise it only sees that no
   * frames arrive. Default: always.
   */
  readonly canSeeProblems?: () => boolean
  readonly random?: () => number
  readonly createRunId?: () => string
}

/** How often a camera that is not needed is checked, plus or minus a quarter. */
const probeMs = 60_000

/** How long a connection stays open after its last viewer leaves, or after its first frame if there is no viewer. */
const lingerMs = 10_000
const probeLingerMs = 2000

/**
 * Reconnects until `signal` aborts, then resolves. Never rejects. Publishes `start`, frames, and `end` at each loss.
 * For the pauses between connections, see reconnect-pause.ts.
 */
export async function runCamera(options: RunCameraOptions): Promise<void> {
  const { signal, demand = new Demand(true), random = Math.random } = options
  const log = options.context.log.child({ cameraId: options.target.cameraId })
  const context = { ...options.context, log }
  const { clock } = context
  const reporter = new StatusReporter({ onStatus: options.onStatus, clock, log, signal })
  const pauses = new ReconnectPauses(random)
  const connect = createConnect({ ...options, context }, { demand, reporter })
  while (!signal.aborted) {
    const { error, onlineMs } = await connect()
    if (signal.aborted) return
    const probeDelayMs = probeMs * (0.75 + random() / 2)
    const next = pauses.next({ reason: error?.reason, onlineMs, isFault: error?.kind === 'internal' })
    await waitForAttempt({ ...next, probeDelayMs, demand, clock, signal })
  }
}

type Wait = ReconnectPause & {
  readonly probeDelayMs: number
  readonly demand: Demand
  readonly clock: Clock
  readonly signal: AbortSignal
}

/**
 * Waits for the next attempt. The pause is longer while the camera is not needed and ends with the first viewer, except
 * when another attempt could lock the account.
 */
async function waitForAttempt({ delayMs, probeDelayMs, isLockedOut, demand, clock, signal }: Wait): Promise<void> {
  const waitMs = demand.isWanted ? delayMs : Math.max(delayMs, probeDelayMs)
  if (demand.isWanted || isLockedOut) await pause(clock, waitMs, signal)
  else await demand.changes.wait(clock, waitMs, signal)
}

/**
 * `error` explains why the connection was lost or could not be opened; undefined if it was closed because the camera is
 * no longer needed.
 */
type Outcome = { readonly error: CameraError | undefined; readonly onlineMs: number }

type Shared = { readonly demand: Demand; readonly reporter: StatusReporter }

/**
 * Opens one connection after another. They share the arrival clock, the counters and what was learned about the camera.
 */
function createConnect(options: RunCameraOptions, { demand, reporter }: Shared): () => Promise<Outcome> {
  const { context, target, publish, keepsDamaged, signal, canSeeProblems = () => true } = options
  const { stats = createCameraStats(), createRunId = randomUUID } = options
  const { clock, log } = context
  const arrivalClock = new ArrivalClock(clock)
  const { username, password = '' } = target
  const memory = createCameraMemory()
  let logged = ''
  /** The log is for owners of the server. Each cause is logged once, however many attempts follow. */
  const logHidden = (error: CameraError) => {
    const cause = errorChain(error)
    if (cause !== logged)
      log.info({ reason: error.reason, cause }, 'the camera cannot be reached, and its owner does not see the reason')
    logged = cause
  }
  return async () => {
    memory.runLimit.allowOne()
    let onlineSinceMs: number | undefined
    const idle = new AbortController()
    const ended = AbortSignal.any([signal, idle.signal])
    if (!canSeeProblems()) reporter.reportHidden(createHiddenError(), () => !canSeeProblems() && !memory.isPublic)
    try {
      return await runCameraConnection({
        ...{ context, stats, arrivalClock, createRunId, publish, memory, keepsDamaged },
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
          reporter.online(format)
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
      if (error.kind === 'internal' && !isStopped) log.error({ cause: errorChain(error) }, 'the camera session failed')
      if (onlineMs > 0) publish({ kind: 'end', reason: isStopped ? stopReason(signal) : error.reason })
      if (isStopped) return { error, onlineMs }
      if (onlineMs > 0) reporter.lost(error, onlineMs)
      else if (canSeeProblems() || memory.isPublic || isAboutAddress(error)) reporter.failed(error)
      else logHidden(error)
      return { error, onlineMs }
    } finally {
      idle.abort()
    }
  }
}

type IdleContext = { readonly clock: Clock; readonly ended: AbortSignal }

/**
 * Ends a connection through `idle` some time after the camera is no longer needed. Returns when the connection has
 * ended for any reason.
 */
async function endWhenIdle(demand: Demand, idle: AbortController, { clock, ended }: IdleContext): Promise<void> {
  let restMs = probeLingerMs
  while (!ended.aborted) {
    if (demand.isWanted) {
      restMs = lingerMs
      await demand.changes.next(ended)
      continue
    }
    const isIdle = await demand.changes.wait(clock, restMs, ended)
    if (isIdle) idle.abort()
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

// Keeps one camera connected for as long as it is wanted: connects, publishes its frames, says why when it is lost, tries again
// after a while that grows. The one entry to ingest; a media worker runs one of these per camera.

import { randomUUID } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { Backoff } from '../base/retry.ts'
import type { GapReason, HubItem } from '../hub/hub-item.ts'
import type { StreamFormat } from '../media/frame.ts'
import type { AddressGuard } from './address-guard.ts'
import { ArrivalClock } from './arrival-clock.ts'
import { type ConnectionLimits, defaultLimits, runCameraConnection } from './camera-connection.ts'
import { type CameraError, toCameraError } from './camera-error.ts'
import { createCameraMemory } from './camera-memory.ts'
import { type CameraStats, createCameraStats } from './camera-stats.ts'

export type CameraTarget = {
  readonly cameraId: number
  /** rtsp:// or rtsps://, without user information. */
  readonly url: string
  readonly username?: string
  readonly password?: string
}

export type SessionStatus =
  | { readonly state: 'connecting' }
  | { readonly state: 'online'; readonly format: StreamFormat }
  /** `detail`: one readable sentence for the owner, without secrets. Stays until the camera is online again. */
  | { readonly state: 'offline'; readonly reason: GapReason; readonly detail: string }

export type RunCameraOptions = {
  readonly target: CameraTarget
  publish(item: HubItem): void
  /** `connecting` once at the start, then `online` and `offline` as they change; `online` again when the format changes. */
  onStatus(status: SessionStatus): void
  readonly clock: Clock
  readonly log: Logger
  readonly addressGuard: AddressGuard
  /** Ends the session. When its reason is a `GapReason`, that is the reason of the last `end`; else `stopped_by_user`. */
  readonly signal: AbortSignal
  /** Counted into; pass one to read it. */
  readonly stats?: CameraStats
  /** Shared by all cameras of a thread; one of its own (64 KiB) when missing. */
  readonly readBuffer?: Uint8Array
  readonly limits?: Partial<ConnectionLimits>
  readonly random?: () => number
  readonly createRunId?: () => string
}

/** For `readBuffer`: large enough that a frame of most cameras comes in one read. */
export function createReadBuffer(): Uint8Array {
  return new Uint8Array(64 * 1024)
}

const healthyMs = 60_000

/**
 * Reconnects for ever until `signal` aborts, then resolves; never rejects. Publishes `start`, frames, and `end` at each loss.
 * Delays between attempts: 1 s doubling to 60 s; after repeated refusals of the password 1 to 30 minutes, because cameras lock
 * accounts. Half of each is random, so that cameras behind one switch don't come back all at once.
 */
export async function runCamera(options: RunCameraOptions): Promise<void> {
  const { signal, clock, onStatus, random } = options
  const log = options.log.child({ cameraId: options.target.cameraId })
  const retry = new Backoff({ minMs: 1000, maxMs: 60_000, ...(random && { random }) })
  const refusedRetry = new Backoff({ minMs: 120_000, maxMs: 1_800_000, ...(random && { random }) })
  const connect = createConnect(options, log)
  let refusals = 0
  let lastDetail = ''
  onStatus({ state: 'connecting' })
  while (!signal.aborted) {
    const { error, onlineMs } = await connect()
    if (signal.aborted) return
    const isNews = onlineMs > 0 || error.message !== lastDetail
    if (isNews) onStatus({ state: 'offline', reason: error.reason, detail: error.message })
    if (onlineMs >= healthyMs) retry.reset()
    if (onlineMs > 0) refusedRetry.reset()
    refusals = error.reason === 'auth_failed' ? (onlineMs > 0 ? 1 : refusals + 1) : 0
    const delayMs = refusals > 1 ? refusedRetry.nextMs() : retry.nextMs()
    const fields = { reason: error.reason, cause: errorChain(error), retryMs: Math.round(delayMs) }
    if (isNews) log.info(fields, 'camera is offline')
    else log.debug(fields, 'camera is still offline')
    lastDetail = error.message
    await clock.sleep(delayMs, signal).catch(() => {})
  }
}

type Outcome = { readonly error: CameraError; readonly onlineMs: number }

/** One connection after the other, sharing what outlives them: the clock of arrivals, the counters, the newest wall time. */
function createConnect(options: RunCameraOptions, log: Logger): () => Promise<Outcome> {
  const { target, publish, onStatus, clock, addressGuard, signal } = options
  const { stats = createCameraStats(), readBuffer = createReadBuffer(), createRunId = randomUUID } = options
  const arrivalClock = new ArrivalClock(clock)
  const { username, password = '' } = target
  const memory = createCameraMemory()
  return async () => {
    let onlineSinceMs: number | undefined
    try {
      return await runCameraConnection({
        ...{ clock, log, addressGuard, signal, stats, readBuffer, arrivalClock, createRunId, publish, memory },
        floorMs: memory.lastWallMs,
        url: target.url,
        credentials: username ? { username, password } : undefined,
        limits: { ...defaultLimits, ...options.limits },
        onRun: (format) => {
          if (onlineSinceMs === undefined) {
            onlineSinceMs = clock.monotonicMs()
            stats.connections++
            log.info({ width: format.video.width, height: format.video.height }, 'camera is online')
          }
          onStatus({ state: 'online', format })
        },
      })
    } catch (thrown) {
      const error = toCameraError(thrown)
      if (error.kind === 'internal' && !signal.aborted) log.error({ cause: errorChain(error) }, 'camera session failed')
      if (onlineSinceMs === undefined) return { error, onlineMs: 0 }
      publish({ kind: 'end', reason: signal.aborted ? stopReason(signal) : error.reason })
      return { error, onlineMs: Math.max(1, clock.monotonicMs() - onlineSinceMs) }
    }
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

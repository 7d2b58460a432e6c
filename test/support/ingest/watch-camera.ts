// Runs one camera for a test until a condition holds. Only the tests of ingest use it.

import { type Clock, systemClock } from '../../../server/base/clock.ts'
import { type LogFields, type Logger, silentLogger } from '../../../server/base/log.ts'
import type { HubItem } from '../../../server/hub/hub-item.ts'
import { type CameraStats, createCameraStats } from '../../../server/ingest/frames/camera-stats.ts'
import type { IngestContext } from '../../../server/ingest/ingest-context.ts'
import { createAddressGuard } from '../../../server/ingest/network/address-guard.ts'
import { ConnectLimiter } from '../../../server/ingest/network/connect-limiter.ts'
import { SharedReads } from '../../../server/ingest/network/shared-reads.ts'
import {
  type CameraTarget,
  type RunCameraOptions,
  runCamera,
  type SessionStatus,
} from '../../../server/ingest/session/camera-session.ts'

export type Watched = {
  readonly items: HubItem[]
  readonly statuses: SessionStatus[]
  readonly stats: CameraStats
  readonly last: SessionStatus | undefined
  /** Why connections were lost or failed, as logged, whether reported or not. */
  readonly causes: string[]
}

export type WatchOptions = Partial<Omit<RunCameraOptions, 'context'> & IngestContext>

/** Runs the camera until `isDone`, which is called at each item and status, returns true, or for two minutes. */
export async function watchCamera(
  target: Omit<CameraTarget, 'cameraId'>,
  isDone: (items: HubItem[], statuses: SessionStatus[], stats: CameraStats) => boolean,
  options: WatchOptions = {},
): Promise<Watched> {
  const items: HubItem[] = []
  const statuses: SessionStatus[] = []
  const stats = options.stats ?? createCameraStats()
  const causes: string[] = []
  const note = ({ cause }: LogFields) => {
    if (typeof cause === 'string') causes.push(cause)
  }
  const log: Logger = { ...silentLogger, debug: note, info: note, child: () => log }
  const done = new AbortController()
  const check = () => {
    if (isDone(items, statuses, stats)) done.abort()
  }
  const timer = setTimeout(() => done.abort(), 120_000)
  await runCamera({
    target: { cameraId: 1, ...target },
    publish: (item) => {
      items.push(item)
      check()
    },
    onStatus: (status) => {
      statuses.push(status)
      check()
    },
    context: {
      clock: systemClock,
      log,
      addressGuard: createAddressGuard({ allowLoopback: true }),
      connectLimiter: new ConnectLimiter(1),
      reads: new SharedReads(),
      ...options,
    },
    signal: done.signal,
    stats,
    random: () => 0,
    ...options,
    limits: { ...(options.clock instanceof HastyClock && options.clock.patience), ...options.limits },
  })
  clearTimeout(timer)
  return { items, statuses, stats, last: statuses.at(-1), causes }
}

export const hastyFactor = 40

/**
 * Runs `factor` times as fast as the system clock. What is late by 50 ms because the machine is busy is late by
 * 50 ms × `factor` on this clock.
 */
export class HastyClock implements Clock {
  readonly #factor: number

  constructor(factor: number) {
    this.#factor = factor
  }

  nowMs(): number {
    return Date.now() * this.#factor
  }

  monotonicMs(): number {
    return performance.now() * this.#factor
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return systemClock.sleep(ms / this.#factor, signal)
  }

  /** Limits with which a busy machine is not taken for a camera that does not answer. */
  get patience() {
    return { connectMs: 10_000 * this.#factor, responseMs: 10_000 * this.#factor }
  }
}

export const hastyClock: Clock = new HastyClock(hastyFactor)

/** Returns the kinds of the items, with `key` for a key frame. */
export const kindsOf = (items: readonly HubItem[]) =>
  items.map((item) => (item.kind === 'video' && item.isKey ? 'key' : item.kind))

export const timesOf = (items: readonly HubItem[], kind: 'video' | 'audio') =>
  items.flatMap((item) => (item.kind === kind && 'pts90k' in item ? item.pts90k : []))

/** Whether the first run has ended. */
export const isLost = (items: HubItem[]) => items.at(-1)?.kind === 'end'

export const isOffline = (_: HubItem[], statuses: SessionStatus[]) => statuses.at(-1)?.state === 'offline'

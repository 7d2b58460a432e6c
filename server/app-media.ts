// Pictures, put together: the workers that receive and record them, the archive, live views, and what is told of cameras.

import { join } from 'node:path'
import { openArchiveFolder } from './archive/archive-folder.ts'
import { Catalog } from './archive/catalog.ts'
import { DeletionClock } from './archive/deletion-clock.ts'
import { loadRetentionLimits } from './archive/load-limits.ts'
import { Retention } from './archive/retention.ts'
import type { Clock } from './base/clock.ts'
import { errorChain } from './base/error.ts'
import type { Logger } from './base/log.ts'
import { CameraDesk } from './camera-desk.ts'
import { CameraEvents } from './camera-events.ts'
import { createAddressRules } from './config/meanings.ts'
import type { Config } from './config.ts'
import { Decoder } from './decoder/decoder.ts'
import type { Isolation } from './decoder/isolation/isolation.ts'
import { FigureKeeper } from './figure-keeper.ts'
import { GapKeeper } from './gap-keeper.ts'
import { LiveStreams } from './live/live-streams.ts'
import { SnapshotKeeper } from './live/snapshot-keeper.ts'
import { MediaWorkers } from './media-workers.ts'
import type { MemoryShares } from './memory-shares.ts'
import type { Store } from './store/store.ts'

export type MediaOptions = {
  readonly config: Config
  readonly store: Store
  /** Where the server listens, and where clients reach it: no camera is there. */
  readonly port: number
  readonly publicUrl: string
  readonly memory: MemoryShares
  readonly isolation: Isolation
  readonly clock: Clock
  readonly log: Logger
}

/** Of all workers: fewer than there are threads for files, so that a disk that hangs leaves some to others. */
const maxDiskOperations = 8

/** A recorder that waits so long for the disk has it before a repair does. */
const busyDiskMs = 250

/** Connections to one camera or recorder that all workers together set up at a time; at least one each. */
const maxConnectsPerHost = 4

/** The largest picture kept for lists; live snapshots come in the size the camera sends. */
const keptPicture = { maxWidth: 1280, maxHeight: 720 }

/** Nothing runs yet, and no file of the archive was read. `tasks`, by what they are called in the log, are to be run as long as the server does. */
export async function openMedia({ config, store, port, publicUrl, memory, isolation, clock, log }: MediaOptions) {
  const cameraEvents = new CameraEvents({ store, clock, log, outageMs: config.outageSeconds * 1000 })
  await cameraEvents.open()
  const catalog = new Catalog({
    rows: store.segments,
    archiveDir: config.archive,
    clock,
    log,
    onGap: (gap) => cameraEvents.takeGap(gap),
  })
  await catalog.repair.open(await store.cameras.list())
  await openArchiveFolder(config.archive, store.segments, log)
  const deletionClock = await DeletionClock.open({ rows: store.trustedTimes, clock, log })
  const space = {
    rows: store.segments,
    archiveDir: config.archive,
    clock,
    log,
    loadLimits: () => loadRetentionLimits(store, config.archiveMax),
    openBytes: () => catalog.openBytes(),
    minFreeBytes: config.minFree,
    doubt: () => deletionClock.doubt(),
  }
  const retention = new Retention({
    ...space,
    deletionMs: () => deletionClock.nowMs(),
    recordedBytes: () => catalog.stats().recordedBytes,
  })
  /** Milliseconds, by camera: outlives connections and workers. */
  const keyIntervals = new Map<number, number>()
  const workers = new MediaWorkers({
    count: config.workers,
    settings: {
      archiveDir: config.archive,
      syncIntervalMs: config.syncIntervalMs,
      minFreeBytes: config.minFree,
      pendingBytes: memory.pendingBytes,
      groupBytes: memory.groupBytes,
      earlierBytes: memory.earlierBytes,
      diskOperations: Math.max(1, Math.min(4, Math.floor(maxDiskOperations / config.workers))),
      addressRules: createAddressRules(config, { port, publicUrl }),
      nameServers: config.nameServers,
      connectsPerHost: Math.max(1, Math.floor(maxConnectsPerHost / config.workers)),
      isolation,
      logLevel: config.logLevel,
    },
    clock,
    log,
    onReport: (report) => {
      if (report.type === 'key_interval') keyIntervals.set(report.cameraId, report.intervalMs)
      desk.take(report)
      cameraEvents.take(report)
      gapKeeper.take(report)
    },
    onCounters: (counters) => figures.take(counters),
    onWorkerLost: async (cameraIds) => {
      cameraEvents.takeWorkerLoss(cameraIds)
      for (const id of cameraIds) catalog.abandon(id)
    },
  })
  const figures = new FigureKeeper({
    rows: store.cameraFigures,
    clock,
    log,
    onLoss: (report) => cameraEvents.takeLoss(report),
  })
  const decoder = new Decoder({ log, clock, isolation })
  const live = new LiveStreams({
    subscriber: workers,
    decoder,
    clock,
    log,
    keyIntervalMs: (cameraId) => keyIntervals.get(cameraId),
    maxTotalRetainedBytes: memory.retainedBytes,
    maxTotalHlsBytes: memory.hlsBytes,
  })
  const snapshots = new SnapshotKeeper({
    takeSnapshot: (cameraId, limits) => live.snapshot(cameraId, limits),
    dir: join(config.data, 'snapshots'),
    clock,
    log,
    limits: keptPicture,
    onSnapshot: (cameraId, createdAtMs) => void noteSnapshot(store, cameraId, createdAtMs, log),
  })
  const desk = new CameraDesk({
    store,
    catalog,
    workers,
    onOnline: (cameraId, snapshotAtMs) => snapshots.setOnline(cameraId, snapshotAtMs),
    onOffline: (cameraId) => snapshots.setOffline(cameraId),
    onRecordingError: () => retention.wake(),
    findStartReason: (cameraId) => gapKeeper.findStartReason(cameraId),
    onRemoved: async (cameraId) => {
      cameraEvents.forget(cameraId)
      gapKeeper.forget(cameraId)
      figures.forget(cameraId)
      keyIntervals.delete(cameraId)
      live.closeCamera(cameraId)
      await snapshots.remove(cameraId)
    },
    clock,
    log,
  })
  const gapKeeper = new GapKeeper({
    marks: store.gapMarks,
    clock,
    log,
    isRecorded: (cameraId) => desk.isRecorded(cameraId),
    findFootage: (cameraId) => catalog.knownBounds(cameraId),
    findLast: (cameraId) => catalog.findLast(cameraId),
  })
  return {
    cameraEvents,
    catalog,
    decoder,
    deletionClock,
    desk,
    figures,
    gapKeeper,
    live,
    retention,
    snapshots,
    space,
    workers,
    tasks: {
      'repair of recordings': (signal: AbortSignal) =>
        catalog.repair.run(() => workers.stats().some(({ diskWaitMs }) => diskWaitMs > busyDiskMs), signal),
      'ends of recordings': (signal: AbortSignal) => desk.run(signal),
      snapshots: (signal: AbortSignal) => snapshots.run(signal),
      retention: (signal: AbortSignal) => retention.run(signal),
      'the time for deletions': (signal: AbortSignal) => deletionClock.run(signal),
      'events of cameras': (signal: AbortSignal) => cameraEvents.run(signal),
      'figures of cameras': (signal: AbortSignal) => figures.run(signal),
      'reasons of gaps': (signal: AbortSignal) => gapKeeper.run(signal),
    },
  }
}

async function noteSnapshot(store: Store, cameraId: number, createdAtMs: number, log: Logger): Promise<void> {
  try {
    await store.cameras.setSnapshotAt(cameraId, createdAtMs)
  } catch (error) {
    log.error({ camera: cameraId, error: errorChain(error) }, 'the time of a snapshot was not written')
  }
}

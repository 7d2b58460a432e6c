// Wires up media: the workers that receive and record cameras, the archive, live views, and camera status.

import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { Catalog } from './archive/catalog.ts'
import type { DeletionClock } from './archive/deletion-clock.ts'
import { loadRetentionLimits } from './archive/load-limits.ts'
import { openPlaces } from './archive/open-places.ts'
import { Retention } from './archive/retention.ts'
import { SnapshotCopies } from './archive/snapshot-copies.ts'
import { Uploads } from './archive/uploads.ts'
import { errorChain } from './base/error.ts'
import type { Logger } from './base/log.ts'
import { SerialQueue } from './base/serial-queue.ts'
import type { StartClock } from './base/start-clock.ts'
import type { Camera } from './cameras/camera.ts'
import type { CameraLeases } from './cameras/camera-leases.ts'
import { CameraRegistry } from './cameras/camera-registry.ts'
import { EventWriter } from './cameras/event-writer.ts'
import { MediaWorkers } from './cameras/media-workers.ts'
import type { OutageMails } from './cameras/outage-mails.ts'
import { SnapshotTaker } from './cameras/snapshot-taker.ts'
import { createAddressRules } from './config/derived-settings.ts'
import type { Config } from './config.ts'
import { Decoder } from './decoder/decoder.ts'
import type { Isolation } from './decoder/isolation/isolation.ts'
import { LiveStreams } from './live/live-streams.ts'
import type { MemoryShares } from './memory-shares.ts'
import { LostLease } from './model/camera-lease.ts'
import { isOwnPlace } from './model/place.ts'
import type { Places, RemoteFiles } from './places/places.ts'
import type { Store } from './store/store.ts'

export type MediaOptions = {
  readonly config: Config
  readonly store: Store
  /** Where the server listens and where clients reach it; cameras must not point there. */
  readonly port: number
  readonly publicUrl: string
  readonly memory: MemoryShares
  readonly isolation: Isolation
  readonly outageMails: OutageMails | undefined
  /** Undefined where no other server can have cameras. */
  readonly leases: CameraLeases | undefined
  /** Recordings in the folders of other servers; undefined where there are none. */
  readonly remote: RemoteFiles | undefined
  readonly clock: StartClock
  readonly deletionClock: DeletionClock
  readonly log: Logger
}

/** Disk operations of all workers together. Fewer than libuv has threads, so that a hanging disk leaves some free. */
const maxDiskOperations = 8

/** A recorder that has waited this long for the disk takes precedence over repairs. */
const busyDiskMs = 250

/** Connections per camera or recorder that all workers together set up at a time; at least one per worker. */
const maxConnectsPerHost = 4

/** The largest image kept for lists; live snapshots have the camera's resolution. */
const snapshotLimits = { maxWidth: 1280, maxHeight: 720 }

/**
 * Starts nothing and reads no archive files. The server runs `tasks` for as long as it runs; the keys are their names
 * in the log.
 */
export async function openMedia(options: MediaOptions) {
  const { config, store, port, publicUrl, memory, isolation, outageMails, leases, remote } = options
  const { clock, deletionClock, log } = options
  const events = new EventWriter({ store, clock, log })
  const node = leases && config.nodeName
  const places = await openPlaces(store.places, config.archive, store.segments, log, {
    ...{ node, cacheBytes: memory.bucketBytes, remote },
  })
  const catalog = new Catalog({
    rows: store.segments,
    places,
    node,
    clock,
    log,
    onGap: (gap) => cameras.takeGap(gap),
    onLostLease: () => leases?.doubt(),
  })
  await catalog.repair.open(await store.cameras.list())
  const space = {
    rows: store.segments,
    places,
    clock,
    log,
    loadLimits: () => loadRetentionLimits(store, config.archiveMax),
    openFootage: () => catalog.openFootage(),
    minFreeBytes: config.minFree,
    doubt: () => deletionClock.doubt(),
  }
  const retention = new Retention({
    ...space,
    deletionMs: () => deletionClock.nowMs(),
    recordedBytes: () => catalog.stats().recordedBytes,
  })
  const snapshotFolder = join(config.data, 'snapshots')
  const snapshotCopies = new SnapshotCopies({
    ...{ folder: snapshotFolder, places, cameras: store.cameras },
    isOwn: (cameraId) => !leases || leases.find(cameraId) !== undefined,
  })
  const uploads = new Uploads({
    ...{ rows: store.segments, recordings: store.recordings, places, node, clock, log },
    snapshots: snapshotCopies,
  })
  const workers = new MediaWorkers({
    count: config.workers,
    settings: {
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
      containers: memory.containers,
      decodingBytes: memory.decodingBytes,
      logLevel: config.logLevel,
    },
    places: () => places.folders,
    clock,
    log,
    onReport: (report) => cameras.take(report),
    onCounters: (counters) => cameras.takeCounters(counters),
    onPlaceFull: (placeId) => retention.noteFull(placeId),
    onWorkerLost: async (cameraIds) => cameras.takeWorkerLoss(cameraIds),
  })
  store.onReplaced(() => void catalog.recheck(() => store.cameras.list()))
  const onPlacesChanged = (isMore: boolean) => {
    workers.updatePlaces()
    // Another server may have left open files in a folder that was its own.
    if (isMore) void catalog.recheck(() => store.cameras.list())
  }
  const placeChanges = followPlaces({ store, places, node, log, onChanged: onPlacesChanged })
  const decoder = new Decoder({
    ...{ log, clock, isolation },
    processes: Math.min(memory.decoders, Math.max(2, availableParallelism())),
    memoryBytes: memory.decodingBytes,
  })
  const live = new LiveStreams({
    subscriber: workers,
    decoder,
    clock,
    log,
    keyIntervalMs: (cameraId) => cameras.find(cameraId)?.keyIntervalMs,
    maxTotalRetainedBytes: memory.retainedBytes,
    maxTotalHlsBytes: memory.hlsBytes,
  })
  const snapshots = new SnapshotTaker({
    takeSnapshot: (cameraId, limits) => live.camera(cameraId).snapshot(limits),
    dir: snapshotFolder,
    clock,
    log,
    limits: snapshotLimits,
    onSnapshot: (cameraId, createdAtMs) =>
      void noteSnapshot(store, cameras.find(cameraId), { cameraId, createdAtMs }, log),
  })
  const cameras = new CameraRegistry({
    ...{ store, catalog, workers, snapshots, events, outageMails, leases, clock, log },
    closeLive: (cameraId) => live.closeCamera(cameraId),
    onRecordingError: () => retention.wake(),
    outageMs: config.outageSeconds * 1000,
  })
  return {
    placeChanges,
    cameras,
    catalog,
    decoder,
    events,
    live,
    retention,
    snapshots,
    snapshotCopies,
    space,
    uploads,
    workers,
    tasks: {
      'repair of recordings': (signal: AbortSignal) =>
        catalog.repair.run(() => workers.stats().some(({ diskWaitMs }) => diskWaitMs > busyDiskMs), signal),
      ...cameras.tasks,
      snapshots: (signal: AbortSignal) => snapshots.run(signal),
      retention: (signal: AbortSignal) => retention.run(signal),
      uploads: (signal: AbortSignal) => uploads.run(signal),
      'the time for deletions': (signal: AbortSignal) => deletionClock.run(signal),
    },
  }
}

type Following = {
  readonly store: Pick<Store, 'places' | 'onChange'>
  readonly places: Places
  /** The name of the server, where several share a database. */
  readonly node: string | undefined
  readonly log: Logger
  /** `isMore`: whether there is a new one. */
  readonly onChanged: (isMore: boolean) => void
}

/** Places are added, drained and removed by commands, in another process. Dispose to stop. */
export function followPlaces({ store, places, node, log, onChanged }: Following): Disposable {
  const reading = new SerialQueue()
  const stop = store.onChange((change) => {
    if (change !== 'places' && change !== 'foreign') return
    void reading.run(async () => {
      try {
        const own = (await store.places.list()).filter((place) => isOwnPlace(place, node))
        const before = new Set(places.all.map(({ id }) => id))
        if (!places.replace(own)) return
        log.info({ places: places.all.map(({ id, folder }) => `${id} ${folder}`) }, 'the places of recordings changed')
        onChanged(own.some(({ id }) => !before.has(id)))
      } catch (error) {
        log.error({ error: errorChain(error) }, 'the places of recordings could not be read')
      }
    })
  })
  return { [Symbol.dispose]: stop }
}

async function noteSnapshot(
  store: Store,
  camera: Pick<Camera, 'lease'> | undefined,
  { cameraId, createdAtMs }: { readonly cameraId: number; readonly createdAtMs: number },
  log: Logger,
): Promise<void> {
  try {
    await store.fenced(camera?.lease, ({ cameras }) => cameras.setSnapshotAt(cameraId, createdAtMs))
  } catch (error) {
    if (error instanceof LostLease) return
    log.error({ camera: cameraId, error: errorChain(error) }, 'the time of a snapshot could not be stored')
  }
}

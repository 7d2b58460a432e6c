// Wires up what the server with the cameras has besides the rest: media, playback, and what happens once for all servers
// of a database.

import { readFile } from 'node:fs/promises'
import type { CameraAccess } from './api/camera-access.ts'
import type { MediaDeps } from './api/deps.ts'
import type { createAuth } from './app-auth.ts'
import { openMedia } from './app-media.ts'
import type { DeletionClock } from './archive/deletion-clock.ts'
import type { SnapshotCopies } from './archive/snapshot-copies.ts'
import { StorageMeter } from './archive/storage-meter.ts'
import { errorChain } from './base/error.ts'
import type { Logger } from './base/log.ts'
import { repeat } from './base/repeat.ts'
import type { StartClock } from './base/start-clock.ts'
import type { CameraLeases } from './cameras/camera-leases.ts'
import { OutageMails } from './cameras/outage-mails.ts'
import { createAddressRules, findCameraLimit } from './config/derived-settings.ts'
import type { Config } from './config.ts'
import type { Isolation, IsolationReport } from './decoder/isolation/isolation.ts'
import { runEventRetention } from './event-retention.ts'
import { createAddressGuard } from './ingest/network/address-guard.ts'
import type { MailQueue } from './mail/mail-queue.ts'
import { testMail } from './mail-delivery.ts'
import { measure } from './measure.ts'
import type { MemoryShares } from './memory-shares.ts'
import { isRecordedAt } from './model/recording-run.ts'
import type { RemoteFiles } from './places/places.ts'
import { Playback } from './playback/playback.ts'
import { RecordedImages } from './playback/recorded-images.ts'
import { isPostgresUrl } from './store/postgres/postgres-url.ts'
import type { Store } from './store/store.ts'
import { StreamDetector } from './stream-detector.ts'
import { readVersion } from './version.ts'

export type CamerasOptions = {
  readonly config: Config
  readonly store: Store
  /** Where the server listens and where clients reach it. */
  readonly port: number
  readonly publicUrl: string
  /** Where this server itself is reached; undefined if others cannot hand requests on to it. */
  readonly ownUrl: string | undefined
  readonly memory: MemoryShares
  readonly isolation: Isolation
  readonly mails: MailQueue
  readonly auth: ReturnType<typeof createAuth>
  readonly access: CameraAccess
  readonly startedAtMs: number
  /** Undefined where no other server can have cameras. */
  readonly leases: CameraLeases | undefined
  /** Recordings in the folders of other servers; undefined where there are none. */
  readonly remote: RemoteFiles | undefined
  readonly clock: StartClock
  readonly deletionClock: DeletionClock
  readonly log: Logger
}

const dayMs = 86_400_000
/** Emails of a server that has ended are sent by another one after this time. */
const resumeIntervalMs = 30_000

/** Starts nothing. The server runs `tasks` between `open` and `stop`; the keys are their names in the log. */
export async function openCameras(options: CamerasOptions) {
  const { config, store, port, publicUrl, ownUrl, memory, isolation, mails, auth, access } = options
  const { startedAtMs, leases, remote, clock, deletionClock, log } = options
  logIsolation(isolation.report, log)
  const deletionMs = () => deletionClock.nowMs()
  // Nobody looks for news in the folder that mails are written into without a mail server.
  const outageMails =
    config.smtpUrl === undefined ? undefined : new OutageMails({ ...{ store, publicUrl, clock, log }, mailer: mails })
  const media = await openMedia({
    ...{ config, store, port, publicUrl, memory, isolation, outageMails, leases, remote },
    ...{ clock, deletionClock, log },
  })
  const { cameras, catalog, decoder, live, placeChanges, snapshots, snapshotCopies, space, workers } = media
  const playback = new Playback({
    catalog,
    streams: store.streams,
    clock,
    deletionMs,
    publicUrl,
    mediaUrl: ownUrl,
    nodeName: config.nodeName,
    answersForOthers: ownUrl !== undefined,
    maxEntriesInMemory: memory.streamEntries,
    maxLayoutBytes: memory.layoutBytes,
    canView: (userId, cameraId) => access.canViewRecordings(userId, cameraId),
    isLive: (credential) => auth.authenticator.isLive(credential),
    listGapMarks: (cameraId, startMs, endMs) => cameras.listGapMarks(cameraId, startMs, endMs),
    isRecording: async (cameraId) => {
      const recording = await store.recordings.find(cameraId)
      return recording !== undefined && isRecordedAt(recording, clock.nowMs())
    },
  })
  const identification = {
    version: readVersion(),
    startedAtMs,
    database: isPostgresUrl(config.database) ? 'postgresql' : 'sqlite',
    mail: config.smtpUrl === undefined ? 'folder' : 'smtp',
  } as const
  const deps: MediaDeps = {
    live,
    openFile: ({ placeId, path }) => space.places.filesOf(placeId).open(path),
    recorded: playback,
    recordedImages: new RecordedImages({ catalog, decoder }),
    storage: new StorageMeter(space),
    repair: () => catalog.repair.progress(),
    figures: { find: (cameraId) => cameras.findFigures(cameraId) },
    cameraLimit: findCameraLimit(config),
    detector: new StreamDetector({
      workers,
      decoder,
      addressCheck: createAddressGuard(createAddressRules(config, { port, publicUrl })),
      isOwner: async (userId) => (await store.users.get(userId)).isOwner,
      mayAdd: async (userId) => {
        const { isOwner, mayAddCameras } = await store.users.get(userId)
        return isOwner || mayAddCameras
      },
      clock,
      log,
    }),
    sendTestMail: (to) => mails.sendNow(testMail(to, publicUrl)),
    report: () => ({
      ...identification,
      mailsWaiting: mails.stats().waiting,
      mailProblem: mails.stats().problem?.reason,
      isolation: isolation.report,
      workers: workers.health(),
    }),
    snapshots: {
      find: (cameraId) => findSnapshot(store, { path: snapshots.pathOf(cameraId), copies: snapshotCopies }, cameraId),
    },
  }
  const eventRetention = {
    events: store.events,
    clock,
    deletionMs,
    log,
    maxAgeMs: config.eventDays === 0 ? undefined : config.eventDays * dayMs,
    maxPerCamera: config.eventLimit,
  }
  const leaveStore = store.onChange((change) => {
    if (change === 'waiting_mails' || change === 'foreign') void resumeMails()
    if (change === 'camera_leases' || change === 'foreign') leases?.doubt()
  })
  const resumeMails = () =>
    mails.resume().catch((error) => log.warn({ error: errorChain(error) }, 'waiting emails could not be read'))
  return {
    deps,
    measure: () => measure({ ...media, workers: workers.stats(), passwords: auth.passwords }),
    tasks: {
      ...media.tasks,
      ...auth.jobs,
      ...(leases && {
        'the cameras of this server': (signal: AbortSignal) => leases.run(signal),
        'emails of other servers': (signal: AbortSignal) =>
          repeat(resumeMails, { clock, signal, intervalMs: resumeIntervalMs, isDelayed: true }),
      }),
      'expiry of events': (signal: AbortSignal) => runEventRetention(eventRetention, signal),
    },
    /** Resolves after `stop`. */
    run: () => workers.run(),
    async open(): Promise<void> {
      await cameras.open()
      await mails.resume()
    },
    async stop(): Promise<void> {
      leaveStore()
      await live.close()
      await workers.stop()
    },
    async close(): Promise<void> {
      await catalog.close()
      await cameras.close()
      await decoder.close()
      placeChanges[Symbol.dispose]()
    },
  }
}

function logIsolation({ level, inForce, missing, reason, advice }: IsolationReport, log: Logger): void {
  const fields = { isolation: level, inForce, missing, reason, advice }
  if (level === 'full') log.info(fields, 'processes that decode are isolated')
  else log.warn(fields, 'processes that decode are not isolated as far as they could be')
}

async function findSnapshot(
  store: Store,
  { path, copies }: { readonly path: string; readonly copies: SnapshotCopies },
  cameraId: number,
) {
  const takenAtMs = (await store.cameras.find(cameraId))?.snapshotAtMs
  if (typeof takenAtMs !== 'number') return undefined
  // Removed behind our back, and no copy: as if none had been taken.
  const jpeg = await readFile(path).catch(() => copies.find(cameraId))
  return jpeg && { jpeg, takenAtMs }
}

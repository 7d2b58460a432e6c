// Wires up the server: every part receives its dependencies through its constructor, only here.

import { readFile } from 'node:fs/promises'
import { createApi } from './api/api.ts'
import { CameraAccess } from './api/camera-access.ts'
import { builtDashboard } from './api/dashboard/dashboard.ts'
import { loadIdentity, type OwnIdentity, openOwnIdentity } from './api/transport/certificate.ts'
import { CertificateReloader } from './api/transport/certificate-reloader.ts'
import { TrustedProxies } from './api/transport/trusted-proxies.ts'
import { createAuth } from './app-auth.ts'
import { openMedia } from './app-media.ts'
import { openIdentityProviders } from './app-providers.ts'
import { DeletionClock } from './archive/deletion-clock.ts'
import type { SnapshotCopies } from './archive/snapshot-copies.ts'
import { StorageMeter } from './archive/storage-meter.ts'
import { openSecretKey } from './auth/secret-key.ts'
import type { Clock } from './base/clock.ts'
import { type AppError, errorChain } from './base/error.ts'
import { findFreePort } from './base/free-port.ts'
import type { Logger } from './base/log.ts'
import { StartClock } from './base/start-clock.ts'
import { supervise } from './base/supervise.ts'
import { OutageMails } from './cameras/outage-mails.ts'
import { createAddressRules, findCameraLimit, listTrustedProxies } from './config/derived-settings.ts'
import { type Config, defaultPublicUrl } from './config.ts'
import { openDataFolder } from './data-folder.ts'
import type { IsolationReport } from './decoder/isolation/isolation.ts'
import { openIsolation } from './decoder/isolation/open-isolation.ts'
import { runEventRetention } from './event-retention.ts'
import { lockArchive, lockFolder } from './folder-lock.ts'
import { createAddressGuard } from './ingest/network/address-guard.ts'
import { createMailDelivery, testMail } from './mail-delivery.ts'
import { measure } from './measure.ts'
import { shareMemory } from './memory-shares.ts'
import { isBucket } from './model/place.ts'
import { isRecordedAt } from './model/recording-run.ts'
import { Playback } from './playback/playback.ts'
import { RecordedImages } from './playback/recorded-images.ts'
import { claimDatabase } from './store/engine/database-claim.ts'
import { isPostgresUrl } from './store/postgres/postgres-url.ts'
import { openStore, type Store } from './store/store.ts'
import { StreamDetector } from './stream-detector.ts'
import { readVersion } from './version.ts'

export type RunningServer = {
  /** Public URL of the server. */
  readonly url: string
  /** The certificate, for clients to trust; undefined if a proxy terminates TLS. */
  readonly certFile: string | undefined
  readonly fingerprint: string | undefined
  /** The fingerprint of the authority of our own that signed it; undefined if it is another's. */
  readonly authority: string | undefined
  /** On the first start, when no account exists: the code with which the owner creates the first account. */
  readonly setupCode: string | undefined
  /**
   * Resolves when the database has become unusable, because another server took it or its disk failed. Close the server
   * then.
   */
  readonly ousted: Promise<AppError>
  /** Finishes open fragments, disconnects viewers, and writes pending changes. */
  close(): Promise<void>
}

export type AppOptions = { readonly config: Config; readonly clock: Clock; readonly log: Logger }

const dayMs = 86_400_000
/** How soon replaced certificate files, and a clock that was set, are noticed. */
const certificateIntervalMs = 10_000

/** Starts everything. If it throws, everything that was started has been stopped. */
export async function openApp(options: AppOptions): Promise<RunningServer> {
  const held = new AsyncDisposableStack()
  try {
    return await start(options, held)
  } catch (error) {
    await held.disposeAsync().catch((failure) => {
      options.log.error({ error: errorChain(failure) }, 'a part of the server could not be stopped cleanly')
    })
    throw error
  }
}

/** Every resource is added to `held` when it is opened, and closed in reverse order. */
async function start(
  { config, clock: machineClock, log }: AppOptions,
  held: AsyncDisposableStack,
): Promise<RunningServer> {
  const clock = new StartClock(machineClock)
  clock.notBefore(earliestMs)
  await openDataFolder(config.data)
  held.use(lockFolder(config.data))
  for (const { folder } of config.archive)
    if (folder !== config.data && !isBucket({ folder })) held.use(await lockArchive(folder, log))
  const secretKey = await openSecretKey(config.data)
  // Runs concurrently with what follows, because it starts a process.
  const isolating = openIsolation({ mode: config.isolation })
  // A rejection is handled where this is awaited.
  const isolated = isolating.catch(() => undefined)
  held.defer(async () => void (await isolated))
  // Links contain the port before the server listens on it.
  const port = config.port === 0 ? await findFreePort(config.host) : config.port
  const publicUrl = config.publicUrl ?? defaultPublicUrl(port)
  const { database } = config
  const claim = held.use(await claimDatabase({ database, dataDir: config.data, clock, log }))
  const store = await openStore({
    database,
    credentialsKey: secretKey.deriveKey('camera credentials'),
    clock,
    log,
    isServer: true,
  })
  held.defer(() => store.close())
  await checkClock(clock, store.trustedTimes, log)
  const deletionClock = await DeletionClock.open({ rows: store.trustedTimes, clock, log })
  const deletionMs = () => deletionClock.nowMs()
  const identification = {
    version: readVersion(),
    startedAtMs: clock.nowMs(),
    database: isPostgresUrl(config.database) ? 'postgresql' : 'sqlite',
    mail: config.smtpUrl === undefined ? 'folder' : 'smtp',
  } as const
  const readIdentity = () => openIdentity(config, publicUrl, deletionMs)
  const identity = config.behindProxy ? undefined : await readIdentity()

  const memory = shareMemory(config.memoryMb * 2 ** 20, config.workers)
  const isolation = await isolating
  logIsolation(isolation.report, log)
  const waitingKey = secretKey.deriveKey('waiting mails')
  const rows = store.waitingMails
  const mails = createMailDelivery({ config, publicUrl, rows, waitingKey, clock, deletionMs, log })
  // Nobody looks for news in the folder that mails are written into without a mail server.
  const outageMails =
    config.smtpUrl === undefined ? undefined : new OutageMails({ ...{ store, publicUrl, clock, log }, mailer: mails })
  const media = await openMedia({
    ...{ config, store, port, publicUrl, memory, isolation, outageMails },
    ...{ clock, deletionClock, log },
  })
  held.use(media.placeChanges)
  const { cameras, catalog, decoder, live, snapshots, snapshotCopies, space, workers } = media
  const identityProviders = await openIdentityProviders({ config, port, publicUrl, clock, log })
  const auth = createAuth({
    config,
    store,
    secretKey,
    mailer: mails,
    publicUrl,
    identityProviders,
    clock,
    deletionMs,
    log,
  })
  const { accounts, audit, authenticator, oauth, sessions } = auth
  const addressCheck = createAddressGuard(createAddressRules(config, { port, publicUrl }))
  const access = new CameraAccess({ store, authenticator })
  const playback = new Playback({
    catalog,
    streams: store.streams,
    clock,
    deletionMs,
    publicUrl,
    nodeName: config.nodeName,
    maxEntriesInMemory: memory.streamEntries,
    maxLayoutBytes: memory.layoutBytes,
    canView: (userId, cameraId) => access.canViewRecordings(userId, cameraId),
    isLive: (credential) => authenticator.isLive(credential),
    listGapMarks: (cameraId, startMs, endMs) => cameras.listGapMarks(cameraId, startMs, endMs),
    isRecording: async (cameraId) => {
      const recording = await store.recordings.find(cameraId)
      return recording !== undefined && isRecordedAt(recording, clock.nowMs())
    },
  })
  const api = createApi({
    store,
    authenticator,
    access,
    oauth,
    sessions,
    accounts,
    providers: auth.providers,
    personalTokens: auth.personalTokens,
    devices: auth.devices,
    clearCredentials: auth.clearCredentials,
    audit,
    mediaTokens: auth.mediaTokens,
    live,
    recorded: playback,
    recordedImages: new RecordedImages({ catalog, decoder }),
    storage: new StorageMeter(space),
    repair: () => catalog.repair.progress(),
    figures: { find: (cameraId) => cameras.findFigures(cameraId) },
    cameraLimit: findCameraLimit(config),
    detector: new StreamDetector({
      workers,
      decoder,
      addressCheck,
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
      cameras: cameras.stats(),
      workers: workers.health(),
    }),
    snapshots: {
      find: (cameraId) => findSnapshot(store, { path: snapshots.pathOf(cameraId), copies: snapshotCopies }, cameraId),
    },
    clock,
    log,
    publicUrl,
    identity,
    limits: auth.limits,
    clientLimits: memory,
    dashboard: builtDashboard,
    pages: {
      ...auth,
      users: store.users,
      usedValues: store.usedValues,
      hasMailServer: config.smtpUrl !== undefined,
      clock,
      log,
    },
    origin: { proxies: new TrustedProxies(listTrustedProxies(config)), hosts: config.allowedHosts },
    measure: () => measure({ ...media, workers: workers.stats(), passwords: auth.passwords }),
  })

  const eventRetention = {
    events: store.events,
    clock,
    deletionMs,
    log,
    maxAgeMs: config.eventDays === 0 ? undefined : config.eventDays * dayMs,
    maxPerCamera: config.eventLimit,
  }
  const certificates =
    identity &&
    new CertificateReloader({
      identity,
      read: readIdentity,
      show: (fresh) => api.replaceIdentity(fresh),
      intervalMs: certificateIntervalMs,
      clock,
      log,
    })
  held.defer(() => decoder.close())
  held.defer(() => cameras.close())
  held.defer(() => catalog.close())
  const stopping = new AbortController()
  const background = [
    workers.run(),
    ...runAlways(
      stopping.signal,
      { clock, log },
      {
        ...media.tasks,
        ...auth.tasks,
        'expiry of events': (signal) => runEventRetention(eventRetention, signal),
        ...(certificates && { certificate: (signal) => certificates.run(signal) }),
      },
    ),
  ]
  held.defer(async () => {
    stopping.abort(new Error('the server is stopping'))
    await Promise.all(background)
  })
  held.defer(() => workers.stop())
  held.defer(() => mails.close())
  held.defer(() => accounts.flush())
  held.defer(() => live.close())
  held.defer(() => api.close())
  await cameras.open()
  await mails.resume()
  await api.listen({ host: config.host, port })
  log.info({ url: publicUrl, port, data: config.data }, 'the server is up')
  return {
    url: publicUrl,
    certFile: identity?.certFile,
    fingerprint: identity?.fingerprint,
    authority: identity?.authority?.fingerprint,
    setupCode: (await accounts.signUps.isSetupPending()) ? await accounts.signUps.createSetupCode() : undefined,
    ousted: Promise.race([claim.lost, store.lost]),
    close: () => held.disposeAsync(),
  }
}

/** This version did not exist before. */
const earliestMs = Date.UTC(2026, 0, 1)

/** A machine without a battery does not know the time when it starts. */
async function checkClock(clock: StartClock, rows: Store['trustedTimes'], log: Logger): Promise<void> {
  if (clock.notBefore((await rows.find())?.timeMs ?? 0)) return
  const used = new Date(clock.nowMs()).toISOString()
  log.warn(
    { used },
    "the clock of this machine is wrong: it shows a time before the server's last one. Until it is set, recordings are dated from then on. If it is right, stop the server and run: nightjar retention",
  )
}

function openIdentity(config: Config, publicUrl: string, nowMs: () => number): Promise<OwnIdentity> {
  const { tlsCert, tlsKey } = config
  if (tlsCert !== undefined && tlsKey !== undefined) return loadIdentity(tlsCert, tlsKey)
  return openOwnIdentity({ dataDir: config.data, hosts: [new URL(publicUrl).hostname], clock: { nowMs } })
}

function logIsolation({ level, inForce, missing, reason, advice }: IsolationReport, log: Logger): void {
  const fields = { isolation: level, inForce, missing, reason, advice }
  if (level === 'full') log.info(fields, 'processes that decode are isolated')
  else log.warn(fields, 'processes that decode are not isolated as far as they could be')
}

/** Restarts each task when it fails; resolves when `signal` aborts. */
function runAlways(
  signal: AbortSignal,
  { clock, log }: { clock: Clock; log: Logger },
  tasks: Record<string, (signal: AbortSignal) => Promise<void>>,
): Promise<void>[] {
  return Object.entries(tasks).map(([task, run]) =>
    supervise(run, {
      signal,
      clock,
      onFailure: (error, delayMs) => log.error({ task, error: errorChain(error), delayMs }, 'a background task failed'),
    }),
  )
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

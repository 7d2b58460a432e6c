// The server, put together: every part gets what it needs through its constructor, here and nowhere else.

import { randomBytes } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createApi } from './api/api.ts'
import { CameraAccess } from './api/camera-access.ts'
import { builtDashboard } from './api/dashboard/dashboard.ts'
import { loadIdentity, type OwnIdentity, openOwnIdentity } from './api/transport/certificate.ts'
import { CertificateKeeper } from './api/transport/certificate-keeper.ts'
import { TrustedProxies } from './api/transport/trusted-proxies.ts'
import { openArchiveFolder } from './archive/archive-folder.ts'
import { Catalog } from './archive/catalog.ts'
import { loadRetentionLimits } from './archive/load-limits.ts'
import { Retention } from './archive/retention.ts'
import { StorageMeter } from './archive/storage-meter.ts'
import { Accounts } from './auth/accounts/accounts.ts'
import { Authenticator } from './auth/authenticator.ts'
import { Audit } from './auth/guard/audit.ts'
import { KnownDevices } from './auth/guard/known-devices.ts'
import { Login } from './auth/guard/login.ts'
import { PasswordQueue } from './auth/guard/password-queue.ts'
import { RateLimits } from './auth/guard/rate-limits.ts'
import { MediaTokens } from './auth/media-token.ts'
import { OAuth } from './auth/oauth/oauth.ts'
import { PersonalTokens } from './auth/personal-tokens.ts'
import { openSecretKey } from './auth/secret-key.ts'
import { Sessions } from './auth/sessions/sessions.ts'
import type { Clock } from './base/clock.ts'
import { type AppError, errorChain } from './base/error.ts'
import type { Logger } from './base/log.ts'
import { supervise } from './base/supervise.ts'
import { CameraDesk } from './camera-desk.ts'
import { CameraEvents } from './camera-events.ts'
import { type Config, defaultPublicUrl } from './config.ts'
import { Decoder } from './decoder/decoder.ts'
import { runEventRetention } from './event-retention.ts'
import { lockArchive, lockFolder } from './folder-lock.ts'
import { GapKeeper } from './gap-keeper.ts'
import type { AddressRules } from './ingest/address-guard.ts'
import { LiveStreams } from './live/live-streams.ts'
import { SnapshotKeeper } from './live/snapshot-keeper.ts'
import { createMailDelivery } from './mail-delivery.ts'
import { measure } from './measure.ts'
import { MediaWorkers } from './media-workers.ts'
import { defaultPolicy, type OAuthPolicy } from './model/oauth/policy.ts'
import { Playback } from './playback/playback.ts'
import { RecordedPictures } from './playback/recorded-pictures.ts'
import { claimDatabase } from './store/database-claim.ts'
import { isPostgresUrl } from './store/postgres-url.ts'
import { openStore, type Store } from './store/store.ts'
import { StreamDetector } from './stream-detector.ts'
import { readVersion } from './version.ts'

export type RunningServer = {
  /** Where clients reach it. */
  readonly url: string
  /** The certificate, for clients that must be told to trust it; undefined when a proxy has it. */
  readonly certFile: string | undefined
  readonly fingerprint: string | undefined
  readonly isSelfSigned: boolean
  /** On a first start, when nobody can sign in yet: what its owner types to become the first user. */
  readonly setupCode: string | undefined
  /** Resolves when another server has taken the database over: then this one has to be closed. */
  readonly ousted: Promise<AppError>
  /** Finishes open fragments, ends viewers, writes what is left. */
  close(): Promise<void>
}

export type AppOptions = { readonly config: Config; readonly clock: Clock; readonly log: Logger }

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** How soon certificate files that were replaced are noticed. */
const certificateIntervalMs = 10_000

/** Of all workers: fewer than there are threads for files, so that a disk that hangs leaves some to others. */
const maxDiskOperations = 8

/** Connections to one camera or recorder that all workers together set up at a time; at least one each. */
const maxConnectsPerHost = 4

/** The largest picture kept for lists; live snapshots come in the size the camera sends. */
const keptPicture = { maxWidth: 1280, maxHeight: 720 }

/** Starts everything. Throws before anything runs when the data folder, the certificate or the port cannot be used. */
export async function openApp({ config, clock, log }: AppOptions): Promise<RunningServer> {
  await mkdir(config.data, { recursive: true, mode: 0o700 })
  await using held = new AsyncDisposableStack()
  held.use(lockFolder(config.data))
  if (config.archive !== config.data) held.use(await lockArchive(config.archive, log))
  const secretKey = await openSecretKey(config.data)
  const identification = {
    version: readVersion(),
    startedAtMs: clock.nowMs(),
    database: isPostgresUrl(config.database) ? 'postgresql' : 'sqlite',
  } as const
  const port = config.port === 0 ? await findFreePort(config.host) : config.port
  const publicUrl = config.publicUrl ?? defaultPublicUrl(port)
  const readIdentity = () => openIdentity(config, publicUrl, clock)
  const identity = config.behindProxy ? undefined : await readIdentity()
  const { database } = config
  const claim = held.use(await claimDatabase({ database, dataDir: config.data, clock, log }))
  const store = await openStore({
    database,
    credentialsKey: secretKey.deriveKey('camera credentials'),
    clock,
    log,
    isServer: true,
  })

  const cameraEvents = new CameraEvents({ store, clock, log, outageMs: config.outageSeconds * 1000 })
  await cameraEvents.open()
  const catalog = new Catalog({
    rows: store.segments,
    archiveDir: config.archive,
    clock,
    log,
    onGap: (gap) => cameraEvents.takeGap(gap),
  })
  const leftOpen = await store.segments.listOpen()
  const isArchiveThere = await openArchiveFolder(config.archive, store.segments, log)
  if (isArchiveThere) await catalog.repairOpen(await store.cameras.list())
  const space = {
    rows: store.segments,
    archiveDir: config.archive,
    clock,
    log,
    loadLimits: () => loadRetentionLimits(store, config.archiveMax),
    openBytes: () => catalog.openBytes(),
    minFreeBytes: config.minFree,
  }
  const retention = new Retention({ ...space, recordedBytes: () => catalog.stats().recordedBytes })
  const workers = new MediaWorkers({
    count: config.workers,
    settings: {
      archiveDir: config.archive,
      syncIntervalMs: config.syncIntervalMs,
      minFreeBytes: config.minFree,
      diskOperations: Math.max(1, Math.min(4, Math.floor(maxDiskOperations / config.workers))),
      addressRules: createAddressRules(config, { port, publicUrl }),
      connectsPerHost: Math.max(1, Math.floor(maxConnectsPerHost / config.workers)),
      logLevel: config.logLevel,
    },
    clock,
    log,
    onReport: (report) => {
      desk.take(report)
      cameraEvents.take(report)
      gapKeeper.take(report)
    },
    onWorkerLost: async (cameraIds) => {
      cameraEvents.takeWorkerLoss(cameraIds)
      for (const id of cameraIds) await catalog.abandon(id)
    },
  })
  const decoder = new Decoder({ log, clock })
  const live = new LiveStreams({ subscriber: workers, decoder, clock, log })
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
      live.closeCamera(cameraId)
      await snapshots.remove(cameraId)
    },
    log,
  })
  const gapKeeper = new GapKeeper({
    marks: store.gapMarks,
    clock,
    log,
    isRecorded: (cameraId) => desk.isRecorded(cameraId),
    findFootage: (cameraId) => catalog.bounds(cameraId),
  })
  const authenticator = new Authenticator({ tokens: store.tokens, grants: store.grants, source: store, clock, log })
  const access = new CameraAccess({ store, authenticator })
  const audit = new Audit({ rows: store.audit, clock, log, retentionDays: config.auditDays })
  const passwords = new PasswordQueue()
  const limits = new RateLimits({
    apiPerMinute: config.rateLimit,
    tokenPerMinute: config.tokenRateLimit,
    clock,
  })
  const login = new Login({
    users: store.users,
    passwords,
    devices: new KnownDevices(secretKey.deriveKey('known devices'), clock),
    audit,
    clock,
    log,
  })
  const personalTokens = new PersonalTokens({ rows: store.tokens, audit, randomBytes })
  const sessions = new Sessions({ rows: store.sessions, clock, log })
  const mails = createMailDelivery({ config, publicUrl, spoolKey: secretKey.deriveKey('waiting mails'), clock, log })
  const accounts = new Accounts({
    store,
    login,
    passwords,
    mailer: mails,
    audit,
    clock,
    log,
    randomBytes,
    publicUrl,
    signUp: config.signUp,
  })
  const oauth = new OAuth({
    store,
    login,
    audit,
    clock,
    log,
    publicUrl,
    randomBytes,
    policy: createOAuthPolicy(config),
    onReuse: (notice) => accounts.notifyReuse(notice),
  })
  const playback = new Playback({
    catalog,
    streams: store.streams,
    clock,
    publicUrl,
    nodeName: config.nodeName,
    canView: (userId, cameraId) => access.canViewRecordings(userId, cameraId),
    isLive: (credential) => authenticator.isLive(credential),
    listGapMarks: (cameraId, startMs, endMs) => gapKeeper.list(cameraId, startMs, endMs),
    isRecording: async (cameraId) => (await store.recordings.find(cameraId))?.deactivatedAtMs === null,
  })
  const api = createApi({
    store,
    authenticator,
    access,
    oauth,
    sessions,
    accounts,
    audit,
    mediaTokens: new MediaTokens(secretKey.deriveKey('media tokens'), clock),
    live,
    recorded: playback,
    recordedPictures: new RecordedPictures({ catalog, decoder }),
    storage: new StorageMeter(space),
    cameraLimit: findCameraLimit(config),
    detector: new StreamDetector({ workers, decoder, clock, log }),
    report: () => ({ ...identification, cameras: desk.stats(), workers: workers.health() }),
    snapshots: { find: (cameraId) => findSnapshot(store, snapshots.pathOf(cameraId), cameraId) },
    clock,
    log,
    publicUrl,
    identity,
    limits,
    dashboard: builtDashboard,
    pages: {
      sessions,
      personalTokens,
      login,
      oauth,
      accounts,
      users: store.users,
      errandKey: secretKey.deriveKey('errands'),
      audit,
      clock,
      log,
    },
    origin: { proxies: new TrustedProxies(listTrustedProxies(config)), hosts: config.allowedHosts },
    measure: () =>
      measure({ workers: workers.stats(), desk, decoder, live, catalog, retention, passwords, cameraEvents }),
  })

  const eventRetention = {
    events: store.events,
    clock,
    log,
    maxAgeMs: config.eventDays === 0 ? undefined : config.eventDays * dayMs,
    maxPerCamera: config.eventLimit,
  }
  const certificates =
    identity &&
    new CertificateKeeper({
      identity,
      read: readIdentity,
      show: (fresh) => api.replaceIdentity(fresh),
      intervalMs: config.tlsCert === undefined ? hourMs : certificateIntervalMs,
      clock,
      log,
    })
  const stopping = new AbortController()
  const background = [
    workers.run(),
    ...(isArchiveThere ? [] : [catalog.repairWhenThere(leftOpen, stopping.signal)]),
    ...runAlways(
      stopping.signal,
      { clock, log },
      {
        snapshots: (signal) => snapshots.run(signal),
        retention: (signal) => retention.run(signal),
        'last use of tokens': (signal) => authenticator.run(signal),
        'events of cameras': (signal) => cameraEvents.run(signal),
        'reasons of gaps': (signal) => gapKeeper.run(signal),
        'expiry of events': (signal) => runEventRetention(eventRetention, signal),
        ...(certificates && { certificate: (signal) => certificates.run(signal) }),
        'audit log': (signal) => audit.run(signal),
        'expiry of sessions': (signal) => sessions.run(signal),
        'expiry of tokens': (signal) => oauth.run(signal),
        'expiry of links': (signal) => accounts.run(signal),
      },
    ),
  ]
  await desk.open()
  await mails.resume()
  const locks = held.move()
  const close = async () => {
    await api.close()
    live.close()
    await accounts.flush()
    await mails.close()
    await workers.stop()
    stopping.abort(new Error('the server is stopping'))
    await Promise.all(background)
    await catalog.close()
    await cameraEvents.flush()
    await gapKeeper.flush()
    await desk.close()
    await decoder.close()
    await store.close()
    await locks.disposeAsync()
  }
  try {
    await api.listen({ host: config.host, port })
  } catch (error) {
    await close()
    throw error
  }
  log.info({ url: publicUrl, port, data: config.data }, 'the server is up')
  return {
    url: publicUrl,
    certFile: identity?.certFile,
    fingerprint: identity?.fingerprint,
    isSelfSigned: identity !== undefined && config.tlsCert === undefined,
    setupCode: (await accounts.isSetupPending()) ? await accounts.createSetupCode() : undefined,
    ousted: claim.lost,
    close,
  }
}

function openIdentity(config: Config, publicUrl: string, clock: Clock): Promise<OwnIdentity> {
  const { tlsCert, tlsKey } = config
  if (tlsCert !== undefined && tlsKey !== undefined) return loadIdentity(tlsCert, tlsKey)
  return openOwnIdentity({ dataDir: config.data, hosts: [new URL(publicUrl).hostname], clock })
}

function createOAuthPolicy(config: Config): OAuthPolicy {
  return {
    ...defaultPolicy,
    accessTokenMs: config.accessTokenSeconds * 1000,
    refreshTokenMs: config.refreshTokenDays * dayMs,
    grantMs: config.grantDays === 0 ? undefined : config.grantDays * dayMs,
    reuseLeewayMs: config.refreshReuseLeewaySeconds * 1000,
    allowsPassword: !config.noPasswordGrant,
  }
}

/** Where cameras may be. Strangers have no business in the networks around the server, unless its owner says so. */
function createAddressRules(config: Config, { port, publicUrl }: { port: number; publicUrl: string }): AddressRules {
  const { hostname, port: publicPort } = new URL(publicUrl)
  return {
    allowLoopback: config.allowLoopbackCameras,
    allowedPrivate: config.cameraNetworks ?? (config.signUp === 'open' ? [] : undefined),
    self: { listenPort: port, publicHost: hostname, publicPort: Number(publicPort || 443) },
  }
}

function findCameraLimit({ cameraLimit, signUp }: Config): number | undefined {
  return (cameraLimit ?? (signUp === 'open' ? 100 : 0)) || undefined
}

/** Who has a proxy and names none has it on the same machine. */
function listTrustedProxies({ behindProxy, trustedProxies }: Config): readonly string[] {
  return behindProxy && trustedProxies.length === 0 ? ['127.0.0.0/8', '::1'] : trustedProxies
}

/** Links must name the port before anything listens to it. */
async function findFreePort(host: string): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve, reject) => probe.once('error', reject).listen(0, host, resolve))
  const { port } = probe.address() as { port: number }
  await new Promise((resolve) => probe.close(resolve))
  return port
}

/** Each task restarted when it fails; resolve when `signal` aborts. */
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

async function noteSnapshot(store: Store, cameraId: number, createdAtMs: number, log: Logger): Promise<void> {
  try {
    await store.cameras.setSnapshotAt(cameraId, createdAtMs)
  } catch (error) {
    log.error({ camera: cameraId, error: errorChain(error) }, 'the time of a snapshot was not written')
  }
}

async function findSnapshot(store: Store, path: string, cameraId: number) {
  const takenAtMs = (await store.cameras.find(cameraId))?.snapshotAtMs
  if (typeof takenAtMs !== 'number') return undefined
  try {
    return { jpeg: await readFile(path), takenAtMs }
  } catch {
    return undefined // removed behind our back: as if none had been taken
  }
}

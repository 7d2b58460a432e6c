// Wires up the server: every part receives its dependencies through its constructor, only here.

import { createApi } from './api/api.ts'
import { CameraAccess } from './api/camera-access.ts'
import { builtDashboard } from './api/dashboard/dashboard.ts'
import { createServerUrl } from './api/forwarding.ts'
import type { Membership } from './api/peers/membership.ts'
import { loadIdentity, type OwnIdentity, openOwnIdentity } from './api/transport/certificate.ts'
import { CertificateReloader } from './api/transport/certificate-reloader.ts'
import { TrustedProxies } from './api/transport/trusted-proxies.ts'
import { openAnswering } from './app-answering.ts'
import { createAuth } from './app-auth.ts'
import { openCameras } from './app-cameras.ts'
import { openPeers } from './app-peers.ts'
import { openIdentityProviders } from './app-providers.ts'
import { DeletionClock } from './archive/deletion-clock.ts'
import { openSecretKey } from './auth/secret-key.ts'
import type { Clock } from './base/clock.ts'
import { type AppError, errorChain } from './base/error.ts'
import { findFreePort } from './base/free-port.ts'
import type { Logger } from './base/log.ts'
import { StartClock } from './base/start-clock.ts'
import { supervise } from './base/supervise.ts'
import { CameraLeases } from './cameras/camera-leases.ts'
import { listTrustedProxies } from './config/derived-settings.ts'
import { type Config, defaultPublicUrl } from './config.ts'
import { openDataFolder } from './data-folder.ts'
import { openIsolation } from './decoder/isolation/open-isolation.ts'
import { lockArchive, lockFolder } from './folder-lock.ts'
import { createMailDelivery, createMailDrop } from './mail-delivery.ts'
import { shareMemory } from './memory-shares.ts'
import { isBucket } from './model/place.ts'
import { claimDatabase } from './store/engine/database-claim.ts'
import { isPostgresUrl } from './store/postgres/postgres-url.ts'
import { openStore, type Store } from './store/store.ts'

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
  /** Tells balancers to send nothing more. */
  drain(): void
  /** Finishes open fragments, disconnects viewers, and writes pending changes. */
  close(): Promise<void>
}

export type AppOptions = { readonly config: Config; readonly clock: Clock; readonly log: Logger }

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
  if (!config.noCameras)
    for (const { folder } of config.archive)
      if (folder !== config.data && !isBucket({ folder })) held.use(await lockArchive(folder, log))
  const keyOptions = { givenFile: config.secretKeyFile, ...(config.noCameras && { mustExist: true }) }
  const secretKey = await openSecretKey(config.data, keyOptions)
  // Runs concurrently with what follows, because it starts a process.
  const isolating = config.noCameras ? undefined : openIsolation({ mode: config.isolation })
  // A rejection is handled where this is awaited.
  const isolated = isolating?.catch(() => undefined)
  held.defer(async () => void (await isolated))
  // Links contain the port before the server listens on it.
  const port = config.port === 0 ? await findFreePort(config.host) : config.port
  const publicUrl = config.publicUrl ?? defaultPublicUrl(port)
  const { database } = config
  const claim = config.noCameras
    ? undefined
    : held.use(await claimDatabase({ database, dataDir: config.data, isShared: true, clock, log }))
  const store = await openStore({
    database,
    credentialsKey: secretKey.deriveKey('camera credentials'),
    clock,
    log,
    isServer: true,
  })
  held.defer(() => store.close())
  const startedAtMs = clock.nowMs()
  await checkClock(clock, store.trustedTimes, log)
  const peers = isPostgresUrl(database)
    ? await openPeers({ config, store, secretKey, clock: machineClock, log })
    : undefined
  if (peers) held.use(peers)
  const deletionClock = config.noCameras
    ? undefined
    : await DeletionClock.open({ rows: store.trustedTimes, clock, log })
  const deletionMs = () => (deletionClock ?? clock).nowMs()
  const readIdentity = () => openIdentity(config, publicUrl, deletionMs)
  const identity = config.behindProxy ? undefined : await readIdentity()

  const memory = shareMemory(config.memoryMb * 2 ** 20, config.workers)
  const waiting = { rows: store.waitingMails, waitingKey: secretKey.deriveKey('waiting mails'), clock, deletionMs, log }
  const sender = peers?.membership.self.incarnation
  const mails = deletionClock && createMailDelivery({ ...waiting, sender, config, publicUrl })
  const identityProviders = await openIdentityProviders({ config, port, publicUrl, clock, log })
  const auth = createAuth({
    config,
    store,
    secretKey,
    mailer: mails ?? createMailDrop(waiting),
    publicUrl,
    servers: peers?.size,
    identityProviders,
    clock,
    deletionMs,
    log,
  })
  const { accounts, authenticator } = auth
  const access = new CameraAccess({ store, authenticator })
  const ownUrl = peers && config.peerAddress !== undefined ? createServerUrl(publicUrl, config.nodeName) : undefined
  const leases = peers && !config.noCameras ? openLeases(peers.membership, store, machineClock, log) : undefined
  const cameras =
    mails && deletionClock
      ? await openCameras({
          ...{ config, store, port, publicUrl, ownUrl, memory, isolation: (await isolating)! },
          ...{ mails, auth, access },
          ...{ startedAtMs, leases, remote: peers?.files, clock, deletionClock, log },
        })
      : undefined
  const own = cameras?.deps
    ? { ...cameras.deps, peers }
    : {
        ...held.use(await openAnswering({ config, store, publicUrl, ownUrl, memory, auth, access, clock, log })),
        peers: peers!,
      }
  const api = createApi({
    ...auth,
    ...own,
    store,
    access,
    clock,
    log,
    publicUrl,
    identity,
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
    ...(cameras && { measure: cameras.measure }),
  })

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
  // As late as possible: other servers hand on requests for cameras that this one has taken.
  await leases?.update()
  if (leases) held.defer(() => leases.close())
  if (cameras) held.defer(() => cameras.close())
  const stopping = new AbortController()
  const background = [
    ...(cameras ? [cameras.run()] : []),
    ...runAlways(
      stopping.signal,
      { clock, log },
      {
        ...cameras?.tasks,
        ...auth.tasks,
        ...(peers && { 'the other servers': (signal) => peers.run(signal) }),
        ...(certificates && { certificate: (signal) => certificates.run(signal) }),
      },
    ),
  ]
  held.defer(async () => {
    stopping.abort(new Error('the server is stopping'))
    await Promise.all(background)
  })
  if (cameras) held.defer(() => cameras.stop())
  if (mails) held.defer(() => mails.close())
  held.defer(() => accounts.flush())
  held.defer(() => api.close())
  await cameras?.open()
  if (peers) held.use(await peers.listen(api))
  await api.listen({ host: config.host, port })
  log.info({ url: publicUrl, port, data: config.data }, 'the server is up')
  return {
    url: publicUrl,
    certFile: identity?.certFile,
    fingerprint: identity?.fingerprint,
    authority: identity?.authority?.fingerprint,
    setupCode:
      cameras && (await accounts.signUps.isSetupPending()) ? await accounts.signUps.createSetupCode() : undefined,
    ousted: Promise.race([store.lost, ...(claim ? [claim.lost] : []), ...(peers ? [peers.lost] : [])]),
    drain: () => api.drain(),
    close: () => held.disposeAsync(),
  }
}

function openLeases(membership: Membership, store: Store, clock: Clock, log: Logger): CameraLeases {
  return new CameraLeases({
    rows: store.leases,
    placements: store.placements,
    listCameras: () => store.cameras.listIds(),
    self: membership.self,
    servers: membership,
    clock,
    log,
  })
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

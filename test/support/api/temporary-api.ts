// The real API on a real store in a folder of its own, for tests; cameras are not real: what they would send is handed
// in.

import { randomBytes, X509Certificate } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { type Api, createApi } from '../../../server/api/api.ts'
import { CameraAccess } from '../../../server/api/camera-access.ts'
import type { ApiDeps, Recorded } from '../../../server/api/deps.ts'
import type { OwnIdentity } from '../../../server/api/transport/certificate.ts'
import { makeAuthority, makeServerCertificate } from '../../../server/api/transport/make-certificate.ts'
import { TrustedProxies } from '../../../server/api/transport/trusted-proxies.ts'
import { loadRetentionLimits } from '../../../server/archive/load-limits.ts'
import { StorageMeter } from '../../../server/archive/storage-meter.ts'
import { Authenticator } from '../../../server/auth/authenticator.ts'
import { createCredentialParts } from '../../../server/auth/credential-parts.ts'
import { RateLimits } from '../../../server/auth/guard/rate-limits.ts'
import { MediaTokens } from '../../../server/auth/media-token.ts'
import { createPersonalToken, describePersonalToken } from '../../../server/auth/personal-token.ts'
import { Sessions } from '../../../server/auth/sessions/sessions.ts'
import { type Clock, systemClock } from '../../../server/base/clock.ts'
import { AppError } from '../../../server/base/error.ts'
import { silentLogger } from '../../../server/base/log.ts'
import { noIsolation } from '../../../server/decoder/isolation/isolation.ts'
import { markFolder } from '../../../server/places/place-folder.ts'
import type { Store } from '../../../server/store/store.ts'
import { onePlace, testMark } from '../archive/one-place.ts'
import { createTemporaryAccounts } from '../auth/temporary-accounts.ts'
import { createTemporaryOAuth } from '../auth/temporary-oauth.ts'
import { createNoProviders } from '../auth/temporary-providers.ts'
import { openTemporaryStore } from '../store/temporary-store.ts'
import { createAnswerCheck } from './check-answer.ts'

const checkAnswer = createAnswerCheck()

export const publicUrl = 'https://nightjar.example:8443'

export type TemporaryApi = {
  /** Its `inject` rejects when an answer under /v1 is not as the description of the interface says. */
  readonly api: Api
  /** For answers nobody would describe: failures of our own. */
  readonly injectUnchecked: Inject
  readonly store: Store
  readonly mediaTokens: MediaTokens
  readonly identity: OwnIdentity
  /** A new account and the value of its Authorization header. */
  addUser(
    email: string,
    scopes?: readonly string[],
  ): Promise<{ userId: number; tokenId: number; authorization: string }>
  addCamera(ownerId: number, name?: string): Promise<number>
}

const unavailable = () => {
  throw new AppError('unavailable', 'no camera is connected')
}

/** An archive in which nothing was ever recorded. */
export const noFootage: Recorded = {
  info: async () => undefined,
  timeline: async () => ({ segments: [], gaps: [] }),
  createStream: notFound,
  getStreamInfo: notFound,
  checkAccess: notFound,
  isActive: () => false,
  playlist: notFound,
  openBytes: notFound,
  createDownload: notFound,
  openDownload: notFound,
  play: notFound,
  pause: notFound,
  setSpeed: notFound,
}

async function notFound(): Promise<never> {
  throw new AppError('not_found', 'nothing was recorded')
}

const any = { max: Number.POSITIVE_INFINITY, maxOfOne: Number.POSITIVE_INFINITY }

/** An API without limits on clients, and without a proxy. */
export const openToAll: Pick<ApiDeps, 'origin' | 'clientLimits'> = {
  origin: { proxies: new TrustedProxies([]), hosts: [] },
  clientLimits: { connections: any, streams: any, unsentBytes: any },
}

let shared: Promise<OwnIdentity> | undefined

/** Of all servers of the process, without files: making one takes a while. */
function shareIdentity(): Promise<OwnIdentity> {
  shared ??= (async () => {
    const hosts = ['localhost', '127.0.0.1', '::1']
    const { cert: issuer, key: issuerKey } = await makeAuthority(hosts, Date.now())
    const { cert, key } = await makeServerCertificate({ cert: issuer, key: issuerKey }, hosts, Date.now())
    const [fingerprint, ofIssuer] = [cert, issuer].map((pem) => new X509Certificate(pem).fingerprint256)
    return { cert, key, certFile: '', fingerprint: fingerprint!, authority: { cert: issuer, fingerprint: ofIssuer! } }
  })()
  return shared
}

/** `addParts`: for parts that need the store. `openStore`: for another database than a file of SQLite. */
export async function openTemporaryApi(
  t: TestContext,
  parts: Partial<ApiDeps> = {},
  addParts: (store: Store, access: CameraAccess) => Partial<ApiDeps> = () => ({}),
  openStore: (...args: Parameters<typeof openTemporaryStore>) => Promise<{ store: Store }> = openTemporaryStore,
): Promise<TemporaryApi> {
  const clock: Clock = parts.clock ?? systemClock
  const { store } = await openStore(t, { clock })
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-api-'))
  await markFolder(folder, testMark)
  const identity = await shareIdentity()
  const mediaTokens = new MediaTokens(randomBytes(32), clock)
  const { accounts, audit } = createTemporaryAccounts(store, { clock })
  const { tokens, grants } = store
  const authenticator = new Authenticator({ tokens, grants, source: store, clock, log: silentLogger })
  const access = new CameraAccess({ store, authenticator })
  const given = { ...addParts(store, access), ...parts }
  const limits = given.limits ?? new RateLimits({ apiPerMinute: 0, tokenPerMinute: 0, clock })
  const api = createApi({
    store,
    authenticator,
    access,
    ...createCredentialParts({ authenticator, limits, accounts, audit, ...given, store, clock, log: silentLogger }),
    ...openToAll,
    oauth: createTemporaryOAuth(store, { clock }),
    sessions: new Sessions({ rows: store.sessions, clock, log: silentLogger }),
    accounts,
    providers: createNoProviders(store, { audit, clock }),
    audit,
    mediaTokens,
    live: { camera: unavailable },
    snapshots: { find: async () => undefined },
    detector: {
      checkAddress: () => {},
      checkMayAdd: async (userId) => {
        if (!(await store.users.get(userId)).mayAddCameras) throw new AppError('forbidden', 'only watches')
      },
      countTry: async () => {},
      detect: unavailable,
      findType: async () => undefined,
      discover: async () => [],
      readDevice: unavailable,
    },
    recorded: noFootage,
    recordedImages: { getImage: notFound },
    storage: createTemporaryStorage(store, folder, clock),
    repair: () => ({ pending: 0, repaired: 0, failed: 0 }),
    figures: { find: () => undefined },
    sendTestMail: async () => {},
    report: () => ({
      version: '0.0.0',
      startedAtMs: clock.nowMs(),
      database: 'sqlite',
      mail: 'smtp',
      mailsWaiting: 0,
      mailProblem: undefined,
      cameras: [],
      workers: { count: 1, running: 1, restarts: 0 },
      isolation: noIsolation.report,
    }),
    log: silentLogger,
    publicUrl,
    identity,
    ...given,
    limits,
    clock,
  })
  // An injected one has no limit that could be lifted.
  api.server.addHook('onRequest', (_request, { raw }, done) => {
    if ('isLightMyRequest' in raw) raw.setTimeout = () => raw
    done()
  })
  const injectUnchecked = checkInjected(api)
  t.after(async () => {
    await api.close()
    await rm(folder, { recursive: true })
  })
  return {
    api,
    injectUnchecked,
    store,
    mediaTokens,
    identity,
    async addUser(email, scopes = ['user_access']) {
      const user = await store.users.insert({ email, firstName: 'Ada', lastName: 'Lind', passwordHash: '!' })
      const value = createPersonalToken(randomBytes)
      const description = describePersonalToken(value)
      const token = await store.tokens.insert({ userId: user.id, name: 'test', scopes, ...description })
      return { userId: user.id, tokenId: token.id, authorization: `PersonalAccessToken ${value}` }
    },
    async addCamera(ownerId, name = 'Door') {
      const source = { url: 'rtsp://camera.example/stream', username: null, password: null }
      return (await store.cameras.insert({ ownerId, name, type: 'h264', ...source })).id
    },
  }
}

/** Of the archive in this folder; what is in the rows counts. */
export function createTemporaryStorage(store: Store, archiveDir: string, clock: Clock): StorageMeter {
  return new StorageMeter({
    rows: store.segments,
    places: onePlace(archiveDir),
    clock,
    log: silentLogger,
    loadLimits: () => loadRetentionLimits(store, undefined),
    openFootage: () => [],
    minFreeBytes: undefined,
    doubt: () => undefined,
  })
}

type Inject = (options: InjectOptions) => Promise<LightMyRequestResponse>

/** Replaces `inject` by one that looks at what was answered; the former one. */
function checkInjected({ server }: Api): Inject {
  const inject: Inject = server.inject.bind(server)
  const checked = async (request: InjectOptions | string) => {
    const options = typeof request === 'string' ? { url: request } : request
    const { method = 'GET', url } = options
    const response = await inject(options)
    const { statusCode: status, headers, body } = response
    checkAnswer({ method: method.toUpperCase(), url: String(url), status, headers, body })
    return response
  }
  server.inject = checked as typeof server.inject
  return inject
}

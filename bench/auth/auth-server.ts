// The server of the auth bench: the service's own API, OAuth and store, without cameras, and two routes more to compare with.
//
// A process of its own, started by openAuthServer.

import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sendJson } from '../../server/api/answer.ts'
import { writeUser } from '../../server/api/answers/user.ts'
import { createApi } from '../../server/api/api.ts'
import { createAuthorizer } from '../../server/api/authorize.ts'
import { CameraAccess } from '../../server/api/camera-access.ts'
import type { ApiDeps, MediaDeps } from '../../server/api/deps.ts'
import { openOwnIdentity } from '../../server/api/transport/certificate.ts'
import { Authenticator } from '../../server/auth/authenticator.ts'
import type { Caller } from '../../server/auth/caller.ts'
import { createCredentialParts } from '../../server/auth/credential-parts.ts'
import { Audit } from '../../server/auth/guard/audit.ts'
import { KnownDevices } from '../../server/auth/guard/known-devices.ts'
import { Login } from '../../server/auth/guard/login.ts'
import { PasswordQueue } from '../../server/auth/guard/password-queue.ts'
import { RateLimits } from '../../server/auth/guard/rate-limits.ts'
import { MediaTokens } from '../../server/auth/media-token.ts'
import { createOAuth } from '../../server/auth/oauth/oauth.ts'
import { hashPassword } from '../../server/auth/password.ts'
import { Sessions } from '../../server/auth/sessions/sessions.ts'
import { systemClock } from '../../server/base/clock.ts'
import { createLogger } from '../../server/base/log.ts'
import { noIsolation } from '../../server/decoder/isolation/isolation.ts'
import { expandScopes } from '../../server/model/access.ts'
import { defaultPolicy } from '../../server/model/oauth/policy.ts'
import { openStore } from '../../server/store/store.ts'
import { createTemporaryStorage, openToAll } from '../../test/support/api/temporary-api.ts'
import { createTemporaryAccounts } from '../../test/support/auth/temporary-accounts.ts'
import { createNoProviders } from '../../test/support/auth/temporary-providers.ts'

/**
 * - `service`: bearer tokens are checked and requests are counted against the limits
 * - `unchecked`: counted, but nobody is asked who they are
 * - `uncounted`: checked, but there are no limits
 */
export type AuthServerKind = 'service' | 'unchecked' | 'uncounted'

export type AuthServer = Disposable & {
  readonly pid: number
  readonly port: number
  /** PEM of the certificate to trust. */
  readonly ca: string
  readonly accessToken: string
  /** Each of a log-in of its own, and not used yet. */
  readonly refreshTokens: readonly string[]
}

export type AuthServerSize = {
  /** Accounts, all with the same password; at least 1. */
  readonly people: number
  /** Log-ins of the first of them whose refresh tokens are wanted. */
  readonly logIns: number
}

type Order = AuthServerSize & { readonly kind: AuthServerKind }

type Ready = Pick<AuthServer, 'port' | 'ca' | 'accessToken' | 'refreshTokens'>

export const clientId = 'bench'
export const password = 'correct horse battery staple'
export const emailOf = (index: number): string => `user${index}@example.com`
/** Answers as /v1/me/ does, after a durable write to the account. */
export const meWithWritePath = '/bench/me-with-a-write'

/** Beyond what can be asked in a minute, so that requests are counted but none refused. */
const unreachable = 10_000_000

const self = fileURLToPath(import.meta.url)

export async function openAuthServer(kind: AuthServerKind, size: AuthServerSize): Promise<AuthServer> {
  // As the service has it, see server/commands/nightjar.ts.
  const env = { ...process.env, UV_THREADPOOL_SIZE: '16' }
  const child = fork(self, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], env })
  child.send({ kind, ...size } satisfies Order)
  const [ready] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('the server of the bench ended before it listened'))),
  ])) as [Ready]
  return { ...ready, pid: child.pid!, [Symbol.dispose]: () => void child.disconnect() }
}

async function serve({ kind, people, logIns }: Order): Promise<Ready> {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-bench-'))
  const clock = systemClock
  const log = createLogger('warn')
  const store = await openStore({ database: join(folder, 'nightjar.db'), credentialsKey: randomBytes(32), clock, log })
  const identity = await openOwnIdentity({ dataDir: folder, hosts: ['localhost'], clock })
  const perMinute = kind === 'uncounted' ? 0 : unreachable
  const limits = new RateLimits({ apiPerMinute: perMinute, tokenPerMinute: perMinute, clock })
  const audit = new Audit({ rows: store.audit, clock, log })
  const passwords = new PasswordQueue()
  const devices = new KnownDevices(randomBytes(32), clock)
  const login = new Login({ users: store.users, failures: store.failures, passwords, devices, audit, clock, log })
  const { accounts } = createTemporaryAccounts(store, { clock, log })
  const publicUrl = 'https://localhost'
  const policy = defaultPolicy
  const isSecondFactorMissing = async () => false
  const parts = { store, login, isSecondFactorMissing, audit, clock, log }
  const oauth = createOAuth({ ...parts, publicUrl, randomBytes, policy })

  const passwordHash = await hashPassword(password)
  for (let i = 0; i < people; i++) {
    await store.users.insert({ email: emailOf(i), firstName: 'Ada', lastName: 'Lind', passwordHash })
  }
  const [user] = await store.users.list()
  await store.applications.insert({ clientId, ownerId: user!.id, name: 'Bench', redirectUris: [], secretHash: null })

  const caller: Caller = {
    userId: user!.id,
    scopes: expandScopes(['user_access']),
    credentialsVersion: 1,
    credential: { kind: 'personal', id: 1 },
  }
  const { tokens, grants } = store
  const real = new Authenticator({ tokens, grants, source: store, clock, log })
  const authenticator: ApiDeps['authenticator'] =
    kind === 'unchecked' ? { authenticate: () => caller, findKnown: () => caller, isLive: () => true } : real
  const api = createApi({
    ...noCameras,
    storage: createTemporaryStorage(store, process.cwd(), clock),
    figures: { find: () => undefined },
    providers: createNoProviders(store, { audit: { write: () => {} }, clock }),
    repair: () => ({ pending: 0, repaired: 0, failed: 0 }),
    sendTestMail: async () => {},
    report: () => ({
      version: '',
      startedAtMs: clock.nowMs(),
      database: 'sqlite',
      mail: 'folder',
      mailsWaiting: 0,
      mailProblem: undefined,
      cameras: [],
      workers: { count: 0, running: 0, restarts: 0 },
      isolation: noIsolation.report,
    }),
    store,
    authenticator,
    access: new CameraAccess({ store, authenticator }),
    oauth,
    sessions: new Sessions({ rows: store.sessions, clock, log }),
    accounts,
    audit,
    limits,
    ...createCredentialParts({ store, authenticator, accounts, limits, audit, clock, log }),
    ...openToAll,
    mediaTokens: new MediaTokens(randomBytes(32), clock),
    clock,
    log,
    publicUrl,
    identity,
  })
  let writes = 0
  api.server.post(
    meWithWritePath,
    { onRequest: createAuthorizer({ authenticator, limits }, { access: { all: ['write'] } }) },
    async (request, reply) => {
      const { userId } = request.caller!
      const user = await store.users.update(userId, { lastName: `Lind ${++writes}` })
      sendJson(
        reply,
        200,
        JSON.stringify(writeUser(user, { own: await store.cameras.countByOwner(userId), shared: 0, withGuests: 0 })),
      )
    },
  )
  const refreshTokens: string[] = []
  let accessToken = ''
  // One more, whose access token is kept.
  for (let i = 0; i <= logIns; i++) {
    const form = { grant_type: 'password', client_id: clientId, username: emailOf(0), password, scope: 'read write' }
    const context = { ip: '127.0.0.1', userAgent: 'bench' }
    const answer = await oauth.tokens.token({ form: Object.entries(form), context })
    const pair = JSON.parse(answer.body) as { access_token: string; refresh_token: string }
    accessToken = pair.access_token
    refreshTokens.push(pair.refresh_token)
  }
  refreshTokens.pop()
  process.once('disconnect', async () => {
    await api.close()
    await audit.flush()
    await store.close()
    await rm(folder, { recursive: true })
    process.exit()
  })
  return { port: await api.listen({ host: '127.0.0.1', port: 0 }), ca: identity.cert, accessToken, refreshTokens }
}

const absent = () => Promise.reject(new Error('the bench has no cameras'))
const noCameras: Pick<MediaDeps, 'live' | 'recorded' | 'recordedImages' | 'snapshots' | 'detector'> = {
  recordedImages: { getImage: absent },
  live: {
    camera: () => {
      throw new Error('the bench has no cameras')
    },
  },
  recorded: {
    info: absent,
    timeline: absent,
    createStream: absent,
    getStreamInfo: absent,
    checkAccess: absent,
    isActive: () => false,
    playlist: absent,
    openBytes: absent,
    createDownload: absent,
    openDownload: absent,
    play: absent,
    pause: absent,
    setSpeed: absent,
  },
  snapshots: { find: async () => undefined },
  detector: {
    detect: absent,
    checkAddress: () => {},
    checkMayAdd: async () => {},
    countTry: async () => {},
    findType: async () => undefined,
    discover: async () => [],
    readDevice: absent,
  },
}

if (process.argv[1] === self) process.once('message', async (order: Order) => process.send!(await serve(order)))

// Wires up the HTTP interface: the endpoints of the contract, media, health and metrics.

import type { IncomingMessage } from 'node:http'
import type { Http2SecureServer } from 'node:http2'
import type { Server as PeerServer } from 'node:https'
import type { FastifyInstance } from 'fastify'
import { AppError } from '../base/error.ts'
import { createAnswerCaches } from './answer-cache.ts'
import { createCallerCheck } from './authorize.ts'
import { registerDashboard } from './dashboard/dashboard.ts'
import type { ApiDeps } from './deps.ts'
import { registerDescription } from './description/description-routes.ts'
import { registerEndpoints } from './endpoint-routes.ts'
import {
  createAnsweringHooks,
  createHandOn,
  createOwnerHooks,
  createServerUrl,
  registerForwarding,
  registerNamedServers,
} from './forwarding.ts'
import { createAnsweringHandlers, createHandlers } from './handlers/handlers.ts'
import { registerHealth } from './health.ts'
import { createHttpServer } from './http-server.ts'
import { registerLiveRoutes } from './media/live-routes.ts'
import { OpenStreams } from './media/open-streams.ts'
import { registerRecordedImageRoutes } from './media/recorded-image-routes.ts'
import { registerRecordedRoutes } from './media/recorded-routes.ts'
import { MediaUrls } from './media-urls.ts'
import { createMemoryAnswers } from './memory-answers.ts'
import { type Measurement, registerMetrics } from './metrics.ts'
import { registerMetadata } from './oauth/metadata.ts'
import { registerTokenRoutes } from './oauth/token-routes.ts'
import { registerPages } from './pages/pages.ts'
import { cameraOf } from './peers/forwarder.ts'
import { registerPeerFiles } from './peers/peer-files.ts'
import { Connections } from './transport/connections.ts'
import type { OnClearCredentials } from './transport/plain-http.ts'
import { OriginCheck } from './transport/request-origin.ts'
import { type Identity, replaceIdentity } from './transport/secure-server.ts'
import { defaultTimeouts } from './transport/timeouts.ts'
import { UsageCounter } from './transport/usage-counter.ts'

export type Api = {
  /** For tests: requests without a socket (`inject`). */
  readonly server: FastifyInstance
  /** Resolves with the port once connections are accepted; port 0 selects a free one. Throws 'unavailable'. */
  listen(address: { readonly host: string; readonly port: number }): Promise<number>
  /**
   * Answers other servers of the installation too, which this one has let in and whose requests are those of their
   * clients.
   */
  answerPeers(peers: PeerServer): void
  /** Uses this certificate for new connections. Not for a server behind a proxy, which has no certificate. */
  replaceIdentity(identity: Identity): void
  /** From now on, balancers are told to send nothing more. Everything is answered. */
  drain(): void
  /** Ends open streams, gives requests in progress a moment to finish, and closes all connections. */
  close(): Promise<void>
}

/** Creates everything without listening. */
export function createApi(deps: ApiDeps): Api {
  const { store, authenticator, access, mediaTokens, clock, log, identity } = deps
  const { limits, clearCredentials, oauth } = deps
  const publicUrl = new URL(deps.publicUrl).origin
  const { peers, recorded } = deps
  const urls = new MediaUrls((cameraId) => {
    const name = peers?.findServerName(cameraId)
    return name === undefined ? publicUrl : createServerUrl(publicUrl, name)
  }, mediaTokens)
  const streams = new OpenStreams({ store, clock, log })
  const { proxies, hosts } = deps.origin
  const { unsentBytes, ...clientLimits } = deps.clientLimits
  const connections = new Connections({ ...clientLimits, proxies })
  const onClearCredentials: OnClearCredentials = ({ ip, userAgent, ...sent }) =>
    clearCredentials.note({ ...sent, context: { ip, userAgent } })
  const origin = new OriginCheck({
    proxies,
    isBehindProxy: identity === undefined,
    hosts: [new URL(publicUrl).hostname, ...hosts],
    onClearCredentials,
  })
  const caches = createAnswerCaches({ store, mediaTokens })
  const unsent = new UsageCounter(unsentBytes)
  const { server, onRequest } = createHttpServer({
    identity,
    connections,
    timeouts: deps.timeouts ?? defaultTimeouts,
    unsentBytes: unsent,
    log,
    origin,
    onClearCredentials,
    isHostOwn: new URL(publicUrl).port === '',
    checkCaller: createCallerCheck({ authenticator, limits }),
    answerFromMemory: createMemoryAnswers({ origin, authenticator, limits, caches, unsentBytes: unsent }),
  })
  const endpoints = { store, access, authenticator, limits, caches }
  const isFromPeer = (request: IncomingMessage) => origin.isFromPeer(request)
  if (peers) registerNamedServers(server, peers, isFromPeer)
  if ('canPlay' in deps) {
    const handlers = createAnsweringHandlers({ ...deps, publicUrl, urls })
    registerEndpoints(server, { ...endpoints, handlers, hooks: createAnsweringHooks(deps) })
    registerForwarding(server, deps.peers, handlers, (scope) =>
      registerRecordedRoutes(scope, { recorded, streams, limits, log }),
    )
  } else {
    const { live, snapshots } = deps
    const handlers = createHandlers({ ...deps, publicUrl, urls })
    const handOn = peers && createHandOn(peers)
    const { openFile } = deps
    if (peers && openFile) registerPeerFiles(server, { isFromPeer, open: openFile })
    const hooks = handOn && createOwnerHooks({ peers, recorded }, handOn)
    registerEndpoints(server, { ...endpoints, handlers, ...(hooks && { hooks }) })
    server.register(async (scope) => {
      if (handOn)
        scope.addHook('onRequest', async (request, reply) => {
          const cameraId = cameraOf(request)
          if (cameraId !== undefined) await handOn(request, reply, cameraId)
        })
      registerLiveRoutes(scope, {
        tokens: mediaTokens,
        access,
        cameras: store.cameras,
        live,
        snapshots,
        streams,
        peers,
        log,
      })
      registerRecordedImageRoutes(scope, { tokens: mediaTokens, access, images: deps.recordedImages })
    })
    registerRecordedRoutes(server, { recorded, streams, limits, handOn, log })
  }
  registerTokenRoutes(server, { oauth, limits, log })
  registerMetadata(server, publicUrl)
  const hasDashboard = deps.dashboard !== undefined && registerDashboard(server, deps.dashboard)
  if (deps.pages) {
    const { authority } = identity ?? {}
    registerPages(server, { deps: deps.pages, limits, publicUrl, hasDashboard, authority })
  }
  registerDescription(server, publicUrl)
  registerHealth(server, store, 'repair' in deps ? deps.repair : undefined, () => isDraining)
  const measure = (): Measurement[] => [
    { name: 'connections', help: 'Connections to the HTTPS port.', kind: 'gauge', value: connections.size },
    { name: 'open_streams', help: 'Live streams being sent.', kind: 'gauge', value: streams.size },
    ...(deps.measure?.() ?? []),
  ]
  registerMetrics(server, { measure, peers, isFromPeer })

  let isDraining = false
  const stopping = new AbortController()
  let watching: Promise<void> | undefined
  return {
    server,
    async listen({ host, port }) {
      await server.listen({ host, port }).catch((cause: NodeJS.ErrnoException) => {
        throw new AppError('unavailable', `cannot listen on ${host} port ${port}${describe(cause)}`, { cause })
      })
      watching = streams.run(stopping.signal)
      return (server.server.address() as { port: number }).port
    },
    answerPeers(peers) {
      peers.on('secureConnection', (socket) => origin.trust(socket))
      peers.on('request', onRequest)
    },
    replaceIdentity: (identity) => replaceIdentity(server.server as unknown as Http2SecureServer, identity),
    drain() {
      isDraining = true
    },
    async close() {
      stopping.abort()
      streams.close()
      await connections.cutAfter(server.close())
      await watching
    },
  }
}

function describe({ code }: NodeJS.ErrnoException): string {
  if (code === 'EADDRINUSE') return ': another program listens there (--port names another port)'
  if (code === 'EACCES') return ': this user may not open the port'
  if (code === 'EADDRNOTAVAIL') return ': this machine does not have the address'
  return ''
}

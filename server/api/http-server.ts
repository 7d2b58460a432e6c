// Fastify, set up for this service: strict size limits, no request log, one error format, any origin. Knows no
// endpoint.

import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { AppError, errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { RateLimitError } from '../base/rate-limiter.ts'
import { AllowedMethods } from './allowed-methods.ts'
import { sendEmpty, sendProblem } from './answer.ts'
import { takeServerName } from './forwarding.ts'
import { HttpError, methodNotAllowed, toProblem } from './problem.ts'
import { maxBodyBytes } from './read-json.ts'
import { acceptAnyBody } from './request-body.ts'
import { answerBrokenRequest, isUnused } from './transport/broken-request.ts'
import type { Connections } from './transport/connections.ts'
import { createIntake } from './transport/intake.ts'
import type { OnClearCredentials } from './transport/plain-http.ts'
import { createPlainServer } from './transport/plain-server.ts'
import { type OriginCheck, readTarget, registerOriginCheck } from './transport/request-origin.ts'
import { keepRules, refuse } from './transport/request-rules.ts'
import { createSecureServer, type Identity } from './transport/secure-server.ts'
import type { Timeouts } from './transport/timeouts.ts'
import type { UsageCounter } from './transport/usage-counter.ts'

export type HttpServerOptions = {
  /** Undefined for plain HTTP behind a proxy. */
  readonly identity: Identity | undefined
  readonly origin: OriginCheck
  readonly onClearCredentials: OnClearCredentials
  /** The whole host belongs to this service, so that browsers may be told to use nothing but HTTPS there. */
  readonly isHostOwn: boolean
  readonly timeouts: Timeouts
  /** Tracks every connection. */
  readonly connections: Connections
  /** Bytes of large responses in transit, by client address. */
  readonly unsentBytes: UsageCounter
  readonly log: Logger
  /**
   * Checks the credentials of a request under /v1 that matches no endpoint, before the response says what would.
   * Throws.
   */
  readonly checkCaller: (request: FastifyRequest) => Promise<void>
  /** Called before the router; returns true if it has responded. */
  readonly answerFromMemory: (request: IncomingMessage, response: ServerResponse, connection: object) => boolean
}

/** RFC 6797. It counts for all ports of a host, and other programs on it may have no certificate. */
const strictTransport = ['strict-transport-security', 'max-age=31536000'] as const

const preflightHeaders = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE, OPTIONS',
  'access-control-allow-headers': '*, authorization',
  'access-control-max-age': '7200',
}

/**
 * Does not listen, and has no routes except for preflight requests. `onRequest`: for connections of another port, which
 * `origin` was told of.
 */
export function createHttpServer(options: HttpServerOptions): {
  readonly server: FastifyInstance
  readonly onRequest: RequestListener
} {
  const { identity, origin, timeouts, connections, unsentBytes, log, checkCaller, answerFromMemory } = options
  const { isHostOwn } = options
  let isClosing = false
  let onRequest: RequestListener
  /**
   * For a request that is not answered at once; `response.setTimeout(0)` lifts it. The same for all connections, as a
   * property of the server, would cost a timer with each request. Streams of HTTP/2 have theirs from the start, see
   * http2-limits.ts.
   */
  const limitSilence: RequestListener = (request, response) => {
    if (request.httpVersionMajor === 1) request.socket.setTimeout(timeouts.stallMs)
    response.once('timeout', () => {
      if (!response.headersSent)
        log.warn({ path: withoutIds(pathOf(request.url!)) }, 'a request was not answered in time')
      const detail = 'The server could not answer in time.'
      refuse(request, response, new HttpError(503, 'unavailable', detail, { 'retry-after': '5' }))
    })
  }
  const server = Fastify({
    // Node's types have separate classes for HTTP/2; Fastify uses the parts that both versions share.
    serverFactory: (handle) => {
      const takeIn = createIntake({
        origin,
        // While closing, Fastify tells HTTP/1.1 clients to disconnect.
        answerFromMemory: (...request) => !isClosing && answerFromMemory(...request),
        handle: (request, response) => {
          limitSilence(request, response)
          handle(request, response)
        },
      })
      const listen = keepRules((request, response) => {
        if (!request.url!.startsWith('/')) readTarget(request)
        takeServerName(request)
        takeIn(request, response)
      })
      onRequest = (request, response) => {
        if (isHostOwn) response.setHeader(...strictTransport)
        listen(request, response)
      }
      const nodeServer = identity
        ? (createSecureServer(onRequest, identity, timeouts, options.onClearCredentials) as unknown as Server)
        : createPlainServer(onRequest, timeouts)
      connections.track(nodeServer)
      return nodeServer
    },
    bodyLimit: maxBodyBytes,
    routerOptions: {
      ignoreTrailingSlash: true,
      maxParamLength: 512,
      // As text: most requests do not use it, and links repeat it.
      querystringParser: (text) => text as unknown as Record<string, unknown>,
    },
    return503OnClosing: false,
    genReqId: () => '',
    frameworkErrors: (_error, request, reply) =>
      sendProblem(reply as never, toProblem(new AppError('not_found', `invalid path: ${request.url}`))),
    clientErrorHandler: (error, socket) => {
      // Node looks at a connection again when a request begins.
      if (isUnused(error, socket) && origin.isFromProxy({ socket })) socket.setTimeout(timeouts.proxyIdleMs)
      else answerBrokenRequest(error, socket)
    },
  })
  server.decorateRequest('rate', null)
  server.decorate('unsentBytes', unsentBytes)
  server.addHook('preClose', (done) => {
    isClosing = true
    done()
  })
  registerOriginCheck(server, origin)
  acceptAnyBody(server)

  server.setErrorHandler((error, request, reply) => {
    const problem = toProblem(error)
    if (error instanceof RateLimitError) request.rate = error.rate
    // One that took too long was answered already.
    if (problem.status >= 500 && problem.status !== 503 && !reply.raw.writableEnded) {
      log.error({ path: withoutIds(pathOf(request.url)), reason: errorChain(error) }, 'a request failed')
    }
    sendProblem(reply, problem)
  })

  const allowed = new AllowedMethods()
  allowed.observe(server)
  server.setNotFoundHandler(async (request) => {
    const path = pathOf(request.url)
    const methods = allowed.find(path)
    if (!methods) throw new AppError('not_found', 'no such path')
    if (path.startsWith('/v1/')) await checkCaller(request)
    throw methodNotAllowed(request.method, methods)
  })
  for (const prefix of ['/v1', '/media', '/recording']) {
    server.options(`${prefix}/*`, (_request, reply) => sendEmpty(reply, 204, preflightHeaders))
  }
  return { server, onRequest: onRequest! }
}

/** The id of a recorded stream grants access to it. */
function withoutIds(path: string): string {
  return path.replaceAll(/[0-9a-f]{32}/gi, '…')
}

/** Without the query, which may contain a media token. */
function pathOf(url: string): string {
  return url.split('?', 1)[0]!
}

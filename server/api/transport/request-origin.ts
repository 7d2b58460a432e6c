// Where each request came from and what it was sent to, settled before anything else looks at it: the client's address,
// that it came over HTTPS, and that it means this server.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isIP, type Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { RequestContext } from '../../auth/request-context.ts'
import { HttpError } from '../problem.ts'
import { createPlainHttpError, type OnClearCredentials } from './plain-http.ts'
import { isFormLine, plainHttpPageHeaders, writePlainHttpPage } from './plain-request.ts'
import { plainAddress, type TrustedProxies } from './trusted-proxies.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The client's address; see `contextOf`. */
    clientIp: string
  }
}

export type OriginOptions = {
  readonly proxies: TrustedProxies
  /** True when the server speaks plain HTTP: then nobody but a proxy may ask. */
  readonly isBehindProxy: boolean
  /** Names under which this server may be asked for, besides addresses and `localhost`. */
  readonly hosts: readonly string[]
  readonly onClearCredentials?: OnClearCredentials | undefined
}

/** Asked by supervisors on the same machine, which need not know about proxies. */
const openPaths: ReadonlySet<string> = new Set(['/healthz', '/metrics'])
/** Asked by balancers under names of their own. It reveals nothing that a page from elsewhere could use. */
const namelessPath = '/healthz'

/** For what counts, records or shows who asked. */
export function contextOf(request: FastifyRequest): RequestContext {
  return { ip: request.clientIp, userAgent: request.headers['user-agent'] }
}

/**
 * Of a request whose target names a host besides the path, that host is the one that is asked for, whatever the header
 * says (RFC 9112 section 3.2.2). Before anything else looks at the request; a target of another form is left, and
 * refused by the check below.
 */
export function readTarget(request: IncomingMessage): void {
  const { url = '', headers } = request
  const [, authority, rest = '/'] = /^https?:\/\/([^/?#@]+)([/?].*)?$/i.exec(url) ?? []
  if (authority === undefined) return
  headers.host = authority
  delete headers[':authority']
  request.url = rest.startsWith('/') ? rest : `/${rest}`
}

/** Of every request, whatever answers it. */
export class OriginCheck {
  readonly #options: OriginOptions
  readonly #allowed: AllowedHosts
  /**
   * Connections of other servers of the installation, which have looked at everything that is checked here. Undefined
   * while there was none: requests are looked up three times.
   */
  #peers: WeakSet<Socket> | undefined

  constructor(options: OriginOptions) {
    this.#options = options
    this.#allowed = new AllowedHosts(options.hosts)
  }

  /** From now on, requests of this connection come from whom they say. */
  trust(peer: Socket): void {
    this.#peers ??= new WeakSet()
    this.#peers.add(peer)
  }

  /** Whether it came over a connection of another server of the installation. */
  isFromPeer({ socket }: IncomingMessage): boolean {
    return this.#peers?.has(socket) === true
  }

  /** Whether a request or connection came from a proxy, which hands on what its clients ask. */
  isFromProxy({ socket }: { readonly socket: Socket }): boolean {
    const { proxies } = this.#options
    return (!proxies.isEmpty && proxies.has(peerOf(socket))) || this.#peers?.has(socket) === true
  }

  /** The client's address. */
  findClient({ socket, headers }: IncomingMessage): string {
    const { proxies } = this.#options
    if (this.#peers?.has(socket)) return textOf(headers['x-forwarded-for']) ?? peerOf(socket)
    const peer = peerOf(socket)
    return proxies.has(peer) ? proxies.findClient(peer, textOf(headers['x-forwarded-for'])) : peer
  }

  /** Throws HttpError for a request that came over HTTP, 403, or that means another server, 421. */
  check(request: IncomingMessage, clientIp: string): void {
    const { headers, socket, url = '' } = request
    if (this.#peers?.has(socket)) return
    const isProxy = this.#options.proxies.has(peerOf(socket))
    this.#checkScheme(request, { isProxy, clientIp })
    if (!url.startsWith('/') && url !== '*') throw misdirected()
    if (pathOf(url) === namelessPath) return
    this.#allowed.check((isProxy && lastOf(headers['x-forwarded-host'])) || hostOf(headers))
  }

  #checkScheme(request: IncomingMessage, { isProxy, clientIp }: { isProxy: boolean; clientIp: string }): void {
    const { isBehindProxy, onClearCredentials } = this.#options
    if (!isProxy && !isBehindProxy) return
    const { headers, method, url = '' } = request
    const scheme = isProxy ? lastOf(headers['x-forwarded-proto'])?.toLowerCase() : undefined
    if (scheme === 'https' || (scheme === undefined && !isBehindProxy)) return
    if (openPaths.has(pathOf(url))) return
    const { authorization, 'user-agent': userAgent } = headers
    const isForm = isFormLine(`${method} ${url} `)
    const hasCredentials = authorization !== undefined || isForm
    if (hasCredentials) onClearCredentials?.({ authorization, userAgent, isForm, ip: clientIp })
    const isUntold = isProxy && scheme === undefined
    throw createPlainHttpError(
      hasCredentials,
      request.httpVersionMajor === 1 ? { connection: 'close' } : {},
      isUntold ? untoldAdvice : undefined,
    )
  }
}

/** To be called before any other hook is added. */
export function registerOriginCheck(server: FastifyInstance, origin: OriginCheck): void {
  server.decorateRequest('clientIp', '')
  server.addHook('onRequest', (request, reply, done) => {
    request.clientIp = origin.findClient(request.raw)
    try {
      origin.check(request.raw, request.clientIp)
    } catch (error) {
      if (!sendPlainHttpPage(error, request, reply)) done(error as Error)
      return
    }
    done()
  })
}

/** Returns false if the request was not refused for its connection, or did not come from a browser. */
function sendPlainHttpPage(error: unknown, { raw }: FastifyRequest, reply: FastifyReply): boolean {
  if (!(error instanceof HttpError) || error.problem.title !== 'https_required') return false
  const { method, url, headers } = raw
  const { host, accept, 'accept-language': languages } = headers
  const page = writePlainHttpPage({ method, url, host, accept, languages })
  // What the proxy leaves out, its administrator has to mend, and no visitor.
  if (page === undefined || headers['x-forwarded-proto'] === undefined) return false
  reply
    .hijack()
    .raw.writeHead(403, { ...plainHttpPageHeaders, ...error.problem.headers })
    .end(page)
  return true
}

const untoldAdvice =
  'The proxy does not say whether this request came over HTTPS: it must send the header X-Forwarded-Proto.'

const pathOf = (url: string): string => url.split('?', 1)[0]!

function peerOf({ remoteAddress = '' }: IncomingMessage['socket']): string {
  return plainAddress(remoteAddress)
}

/** HTTP/2 has it in a header of its own. */
function hostOf(headers: IncomingHttpHeaders & { readonly ':authority'?: string }): string | undefined {
  return headers[':authority'] ?? headers.host
}

function textOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.join(',')
}

/** What the nearest proxy said, where each adds its own. */
function lastOf(value: string | readonly string[] | undefined): string | undefined {
  return textOf(value)?.split(',').at(-1)?.trim()
}

function misdirected(): HttpError {
  return new HttpError(
    421,
    'misdirected_request',
    'This server does not answer under the name it was asked for: whoever runs it can set public-url or allowed-hosts.',
  )
}

/** Of the longest name and a port; addresses with a zone may be longer. */
const maxHostLength = 260

/**
 * A page from elsewhere whose name was made to point at this server must not be able to talk to it (DNS rebinding).
 * Addresses cannot be made to point anywhere.
 */
class AllowedHosts {
  readonly #names: ReadonlySet<string>
  /** By header as sent, so that the usual one costs a look-up. */
  readonly #good = new Set<string>()

  constructor(names: readonly string[]) {
    this.#names = new Set(['localhost', ...names.map((name) => name.toLowerCase())])
  }

  /** Throws HttpError 421 (RFC 9110 section 15.5.20). Without a host, as from HTTP/1.0, there is nothing to compare. */
  check(host: string | undefined): void {
    if (host === undefined || this.#good.has(host)) return
    if (!this.#isAllowed(host)) {
      throw misdirected()
    }
    if (this.#good.size < 1000 && host.length <= maxHostLength) this.#good.add(host)
  }

  #isAllowed(host: string): boolean {
    const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d{1,5})?$/.exec(host) ?? []
    if (bracketed !== undefined) return isIP(bracketed) === 6
    const name = plain?.toLowerCase().replace(/\.$/, '')
    return name !== undefined && (isIP(name) === 4 || this.#names.has(name))
  }
}

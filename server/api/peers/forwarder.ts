// Hands a request on to another server, as it came, and its answer back. That server checks the
// credentials, limits the client, and ends the stream of one who lost access.

import type {
  ClientRequest,
  IncomingHttpHeaders,
  IncomingMessage,
  OutgoingHttpHeaders,
  ServerResponse,
} from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import { Agent, request as send } from 'node:https'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PeerCertificate } from 'node:tls'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import { SingleFlight } from '../../base/single-flight.ts'
import { writePeerAddress } from '../../model/peer-address.ts'
import { MultipartSplice, mjpegContentType, opening } from '../media/multipart.ts'
import { hasDrained, isGone } from '../transport/drained.ts'
import type { Peer } from './membership.ts'
import type { PeerIdentity } from './peer-identity.ts'

export type ForwarderOptions = {
  /** The server that has the camera; without one, any that has cameras. Throws 'unavailable'. */
  readonly findServer: (cameraId: number | undefined) => Peer
  /** Which lease the camera is under; undefined if no server has ever had it. */
  readonly findEpoch: (cameraId: number) => number | undefined
  readonly identity: PeerIdentity
  readonly log: Logger
}

/** How many servers have handed the request on; believed only if it comes from one. */
export const hopsHeader = 'x-nightjar-hops'
/** Idle connections end before the other side ends them. */
const idleMs = 30_000
/** A server on the same network that does not take a connection or answer in this time is down. */
const patienceMs = 3000
/** Some answers take minutes, as the first image of a camera that is offline. In silence, the server is looked after. */
const silenceMs = 10_000

/** Where images of a camera that changes hands are continued: how often to look, and for how long nobody may have it. */
const lookMs = 500
const maxAwayMs = 60_000
/** The images of a server that still has the camera end only if the connection to it broke. */
const sameMs = 3000

/** A stream of images of a camera, sent under the lease `epoch`. */
type Images = {
  readonly splice: MultipartSplice
  readonly cameraId: number
  readonly epoch: number | undefined
}

/** What there is of each other server. `probing`: whether it still takes connections. */
type Link = { readonly agent: Agent; readonly probing: SingleFlight<void> }

/** `size`: of the whole file, in bytes. */
export type FilePart = { readonly data: Uint8Array; readonly size: number }

export class Forwarder implements Disposable {
  readonly #options: ForwarderOptions
  /** By name: a certificate is checked when a connection begins, and names its server. */
  readonly #links = new Map<string, Link>()
  /** Bytes of its connection, when it was looked after last. */
  readonly #received = new WeakMap<ClientRequest, number | undefined>()
  /** Servers that did not answer last. */
  readonly #silent = new Set<string>()

  constructor(options: ForwarderOptions) {
    this.#options = options
  }

  /**
   * `server`: by default the one that has the camera in the path of the request. Throws 'unavailable' before anything was
   * answered.
   */
  async forward(request: FastifyRequest, reply: FastifyReply, given?: Peer): Promise<void> {
    const { log, findServer, findEpoch } = this.#options
    const cameraId = cameraOf(request)
    const epoch = cameraId === undefined ? undefined : findEpoch(cameraId)
    const server = given ?? findServer(cameraId)
    // The other server has the limits; whether it still answers anything is looked after.
    reply.raw.setTimeout(0)
    let answer: IncomingMessage
    try {
      answer = await this.#ask(server, request, reply.raw)
    } catch (cause) {
      // Whoever asked may have left instead.
      if (!isGone(reply.raw) && !this.#silent.has(server.name)) {
        const fields = { server: server.name, address: writePeerAddress(server.address), error: errorChain(cause) }
        log.warn(fields, 'another server does not answer')
        this.#silent.add(server.name)
      }
      throw new AppError('unavailable', `the server ${server.name} does not answer`, { cause })
    }
    if (this.#silent.delete(server.name)) log.info({ server: server.name }, 'the other server answers again')
    const response = reply.hijack().raw
    response.writeHead(answer.statusCode!, endToEnd(answer.headers))
    if (cameraId !== undefined && isMultipart(answer) && isOfClient(request)) {
      const splice = new MultipartSplice()
      await this.#passOn(answer, response, { splice, cameraId, epoch })
      await this.#goOn(request, response, { splice, cameraId, epoch })
      response.end()
      return
    }
    // Either side may leave in the middle, which ends the other.
    await pipeline(answer, response).catch(() => {})
  }

  /** See `PeerDeps`. */
  follow(request: FastifyRequest, response: ServerResponse, cameraId: number): (() => Promise<void>) | undefined {
    if (!isOfClient(request)) return undefined
    const epoch = this.#options.findEpoch(cameraId)
    return () => {
      const splice = new MultipartSplice()
      // The opening was sent.
      splice.take(opening)
      return this.#goOn(request, response, { splice, cameraId, epoch })
    }
  }

  /** Sends images of whatever server has the camera, as long as one has it. */
  async #goOn(request: FastifyRequest, response: ServerResponse, { splice, cameraId, epoch }: Images): Promise<void> {
    const { findServer, findEpoch } = this.#options
    let seen = epoch
    let endedMs = performance.now()
    while (!isGone(response) && performance.now() - endedMs < maxAwayMs) {
      await sleep(lookMs)
      const current = findEpoch(cameraId)
      // The same server would have gone on, unless the connection to it broke.
      if (current === seen && performance.now() - endedMs < sameMs) continue
      try {
        const answer = await this.#ask(findServer(cameraId), request, response)
        if (!isMultipart(answer)) {
          answer.destroy()
          // Access was revoked, or the camera deleted.
          if (answer.statusCode !== 503) return
          continue
        }
        response.write(splice.end())
        await this.#passOn(answer, response, { splice, cameraId, epoch: current })
        seen = current
        endedMs = performance.now()
      } catch {
        // Nobody has the camera, or its server does not answer yet.
      }
    }
  }

  /** Until the answer ends or breaks, or another server has the camera. */
  async #passOn(answer: IncomingMessage, response: ServerResponse, { splice, cameraId, epoch }: Images): Promise<void> {
    const looking = setInterval(() => {
      if (this.#options.findEpoch(cameraId) !== epoch) answer.destroy()
    }, lookMs)
    try {
      for await (const bytes of answer) {
        const parts = splice.take(bytes as Buffer)
        const isTaken = parts.map((part) => response.write(part)).every(Boolean)
        if (!isTaken && !(await hasDrained(response))) return
      }
    } catch {
      // The other server ended, or is no longer the one.
    } finally {
      clearInterval(looking)
      answer.destroy()
    }
  }

  [Symbol.dispose](): void {
    for (const { agent } of this.#links.values()) agent.destroy()
  }

  /** Once more if the connection was closed while it was idle, which is known only when it is used. */
  async #ask(server: Peer, request: FastifyRequest, response: ServerResponse): Promise<IncomingMessage> {
    const first = this.#send(server, request, response)
    try {
      return await first.answer
    } catch (error) {
      const wasClosed = first.sent.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET'
      if (!wasClosed || hasBody(request.raw) || isGone(response)) throw error
      return await this.#send(server, request, response).answer
    }
  }

  #send(server: Peer, { raw, clientIp, contentType }: FastifyRequest, response: ServerResponse) {
    const { host, port } = server.address
    const answered = Promise.withResolvers<IncomingMessage>()
    const sent = send({
      ...{ host, port, method: raw.method, path: pathOf(raw), agent: this.#linkTo(server).agent },
      headers: {
        ...endToEnd({ ...raw.headers, 'content-type': contentType || undefined }),
        host: String(raw.headers[':authority'] ?? raw.headers.host ?? host),
        'x-forwarded-for': clientIp,
        'x-forwarded-proto': 'https',
        [hopsHeader]: String((raw.hops ?? 0) + 1),
      },
    })
    const leave = () => sent.destroy()
    response.once('close', leave)
    const watching = setInterval(() => this.#lookAfter(server, sent), silenceMs)
    sent.once('socket', (socket) => {
      if (!socket.connecting) return
      const connecting = setTimeout(() => sent.destroy(new Error('no connection in time')), patienceMs)
      for (const event of ['secureConnect', 'close']) socket.once(event, () => clearTimeout(connecting))
    })
    sent.once('response', answered.resolve)
    sent.on('error', answered.reject)
    sent.once('close', () => {
      clearInterval(watching)
      response.off('close', leave)
    })
    if (hasBody(raw)) raw.pipe(sent)
    else sent.end()
    return { sent, answer: answered.promise }
  }

  /** Ends a request in which nothing was received since the last call, unless its server still takes connections. */
  #lookAfter(server: Peer, sent: ClientRequest): void {
    const received = sent.socket?.bytesRead
    const wasReceived = this.#received.get(sent)
    this.#received.set(sent, received)
    if (received !== wasReceived) return
    const { probing } = this.#linkTo(server)
    probing.run(() => this.#probe(server)).catch((error) => sent.destroy(error))
  }

  /** Any answer will do. */
  async #probe(server: Peer): Promise<void> {
    await this.#get(server, 'HEAD', '/healthz')
  }

  /** What the server answers with 200, in a few seconds. Throws 'unavailable'. */
  async read(server: Peer, path: string): Promise<string> {
    const { status, text } = await this.#get(server, 'GET', path)
    if (status !== 200) throw new AppError('unavailable', `the server ${server.name} answered ${status}`)
    return text
  }

  /**
   * At most `bytes` of what the server has under this path, from `at` on, and how long that is; none behind its end. Throws
   * 'not_found' and 'unavailable'.
   */
  async readPart(server: Peer, path: string, at: number, bytes: number): Promise<FilePart> {
    for (let isRetry = false; ; isRetry = true) {
      try {
        return await this.#readPart(server, path, at, bytes)
      } catch (error) {
        if (error instanceof AppError) throw error
        // The other side may have closed the connection while it was idle.
        if (!isRetry && (error as NodeJS.ErrnoException).code === 'ECONNRESET') continue
        throw new AppError('unavailable', `the server ${server.name} does not answer`, { cause: error })
      }
    }
  }

  async #readPart(server: Peer, path: string, at: number, bytes: number): Promise<FilePart> {
    const { promise, resolve, reject } = Promise.withResolvers<FilePart>()
    const headers = { range: `bytes=${at}-${at + bytes - 1}` }
    const sent = send({ ...server.address, path, headers, agent: this.#linkTo(server).agent }, (answer) => {
      const { statusCode, headers } = answer
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('error', reject)
      answer.on('end', () => {
        const [, start, size] = /^bytes (?:(\d+)-\d+|\*)\/(\d+)$/.exec(headers['content-range'] ?? '') ?? []
        if (statusCode === 416) resolve({ data: new Uint8Array(0), size: Number(size) })
        else if (statusCode === 206 && Number(start) === at)
          resolve({ data: Buffer.concat(chunks), size: Number(size) })
        else if (statusCode === 404) reject(new AppError('not_found', 'this recording has been deleted'))
        else reject(new AppError('unavailable', `the server ${server.name} answered ${statusCode}`))
      })
    })
    sent.on('error', reject)
    const timer = setTimeout(() => sent.destroy(new Error('silent')), silenceMs)
    sent.end()
    return promise.finally(() => clearTimeout(timer))
  }

  /** Over a connection of its own. */
  async #get({ name, address }: Peer, method: string, path: string) {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
    const options = { ...address, ...this.#contextOf(name), agent: false, method, path }
    const sent = send(options, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('end', () => resolve({ status: answer.statusCode!, text: Buffer.concat(chunks).toString() }))
      answer.on('error', reject)
    })
    sent.on('error', reject)
    const timer = setTimeout(() => sent.destroy(new Error('silent')), patienceMs)
    sent.end()
    return promise.finally(() => {
      clearTimeout(timer)
      sent.destroy()
    })
  }

  #linkTo({ name }: Peer): Link {
    const known = this.#links.get(name)
    if (known) return known
    const agent = new Agent({ ...this.#contextOf(name), keepAlive: true, timeout: idleMs })
    const link = { agent, probing: new SingleFlight<void>() }
    this.#links.set(name, link)
    return link
  }

  #contextOf(name: string) {
    const { cert, key, authority } = this.#options.identity
    return {
      ...{ cert, key, ca: authority, minVersion: 'TLSv1.3' as const },
      // Whoever has this address now must be the server that is meant, and not another one of the installation.
      checkServerIdentity: (_host: string, { subject }: PeerCertificate) =>
        subject.CN === name ? undefined : new Error(`the server there is called ${subject.CN}`),
    }
  }
}

const isMultipart = ({ statusCode, headers }: IncomingMessage) =>
  statusCode === 200 && headers['content-type'] === mjpegContentType

/** Not of another server, which goes on by itself. */
const isOfClient = ({ raw, method }: FastifyRequest) => method === 'GET' && (raw.hops ?? 0) === 0

/** The camera that the path names. */
export function cameraOf({ params, url }: FastifyRequest): number | undefined {
  const { camera_id: named } = (params ?? {}) as { readonly camera_id?: string }
  const id = named ?? /^\/media\/cameras\/(\d+)\//.exec(url)?.[1] ?? ''
  return /^[1-9]\d{0,14}$/.test(id) ? Number(id) : undefined
}

/** As it was sent. */
const pathOf = ({ serverName, url }: IncomingMessage) => (serverName === undefined ? url : `/at/${serverName}${url}`)

function hasBody({ headers, stream }: IncomingMessage & { readonly stream?: ServerHttp2Stream }): boolean {
  if (stream) return !stream.endAfterHeaders
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

/** Of this connection only (RFC 9110 section 7.6.1), or written anew. */
const ofConnection: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'host',
  'expect',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
])

function endToEnd(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const named = new Set(headers.connection?.toLowerCase().split(/\s*,\s*/))
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name, value]) => value !== undefined && !name.startsWith(':') && !ofConnection.has(name) && !named.has(name),
    ),
  )
}

// Serves a recorded session as a camera: it answers each request with what the recorded camera sent after the same one,
// byte for byte and at the same times. Only the numbers that belong to a connection are changed: CSeq and UDP ports.

import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { findHeader, type RtspRequest, writeRtspMessage } from '../../media/rtsp/message.ts'
import { RtspStreamReader } from '../../media/rtsp/stream-reader.ts'
import { parseClientPorts } from '../../media/rtsp/transport.ts'
import type { RecordedEvent, RecordedSession } from './session-file.ts'

export type ReplayedCamera = AsyncDisposable & {
  readonly port: number
  /** The recorded URL with the host and port of the replay. */
  readonly url: string
}

type Ports = { readonly rtp: number; readonly rtcp: number }

/** A request and what the camera sent until the next one. */
type Exchange = {
  readonly key: RequestKey
  readonly sequence: string
  readonly atMs: number
  readonly sent: RecordedEvent[]
}

type RequestKey = {
  readonly method: string
  readonly hasLogin: boolean
  /** How a SETUP, and the PLAY after it, wants the packets. */
  readonly isUdp: boolean
}

/** `port` 0: any free port. Listens on 127.0.0.1 unless `host` is given. */
export async function openReplayedCamera(
  session: RecordedSession,
  { host = '127.0.0.1', port = 0 }: { readonly host?: string; readonly port?: number } = {},
): Promise<ReplayedCamera> {
  const { protocol } = new URL(session.url)
  const isRtsp = protocol.startsWith('rtsp')
  const exchanges = listExchanges(session.events)
  const udp = createSocket('udp4')
  udp.on('error', () => {}) // as a lost datagram
  udp.bind(0, host)
  await once(udp, 'listening')
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    const connection = new ReplayedConnection(exchanges, socket, udp)
    socket.on('close', () => {
      sockets.delete(socket)
      connection.close()
    })
    socket.on('error', () => {}) // 'close' follows
    if (isRtsp) readRtsp(socket, (request) => connection.answer(request))
    else readHttp(socket, (request) => connection.answer(request))
  })
  server.listen(port, host)
  await once(server, 'listening')
  // Recorded TLS is replayed without it: what was recorded is what it protected.
  const url = new URL(session.url.replace(/^(rtsp|http)s:/, '$1:'))
  url.host = `${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`
  return {
    port: (server.address() as AddressInfo).port,
    url: url.href,
    async [Symbol.asyncDispose]() {
      udp.close()
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

type HeldRequest = Pick<RtspRequest, 'method' | 'headers'>

function readRtsp(socket: Socket, onRequest: (request: HeldRequest) => void): void {
  const reader = new RtspStreamReader({
    onPacket: () => {}, // receiver reports
    onMessage: (message) => {
      if (message.kind === 'request') onRequest(message)
    },
  })
  socket.on('data', (bytes) => {
    try {
      reader.push(bytes, 0, bytes.length)
    } catch {
      socket.destroy()
    }
  })
}

/** Requests for frames have no body. */
function readHttp(socket: Socket, onRequest: (request: HeldRequest) => void): void {
  let head = ''
  socket.on('data', (bytes) => {
    head += bytes.toString('latin1')
    for (let end = head.indexOf('\r\n\r\n'); end >= 0; end = head.indexOf('\r\n\r\n')) {
      const request = parseRequest(head.slice(0, end))
      head = head.slice(end + 4)
      if (request) onRequest(request)
    }
    if (head.length > 65_536) socket.destroy()
  })
}

/** Undefined for what is not a request. */
function parseRequest(head: string): HeldRequest | undefined {
  const [first = '', ...lines] = head.split('\r\n')
  const method = /^([A-Z_]+) \S+ (?:RTSP|HTTP)\/\d\.\d$/.exec(first)?.[1]
  if (method === undefined) return undefined
  const headers = lines.flatMap((line) => {
    const [, name, value] = /^([^:]+):[ \t]*(.*)$/.exec(line) ?? []
    return name === undefined ? [] : [[name, value!] as const]
  })
  return { method, headers }
}

function keyOf({ method, headers }: HeldRequest, isUdpSession: boolean): RequestKey {
  const transport = findHeader(headers, 'Transport')
  return {
    method,
    hasLogin: findHeader(headers, 'Authorization') !== undefined,
    isUdp: transport === undefined ? isUdpSession : parseClientPorts(transport) !== undefined,
  }
}

function listExchanges(events: readonly RecordedEvent[]): Exchange[] {
  const exchanges: Exchange[] = []
  let current: Exchange | undefined
  let isUdp = false
  let isPlaying = false
  for (const event of events) {
    if (event.kind === 'connect') {
      // What a camera sends before the first request has the method ''.
      current = { key: { method: '', hasLogin: false, isUdp: false }, sequence: '', atMs: event.atMs, sent: [] }
      exchanges.push(current)
      isUdp = false
      isPlaying = false
    } else if (event.kind !== 'sent') {
      current?.sent.push(event)
    } else if (!isPlaying) {
      const request = parseRequest(Buffer.from(event.bytes).toString('latin1').split('\r\n\r\n')[0]!)
      if (!request) continue
      const key = keyOf(request, isUdp)
      isUdp = key.isUdp
      // From PLAY on, the camera sends by itself, so the rest of the connection belongs to it.
      isPlaying = key.method === 'PLAY'
      current = { key, sequence: findHeader(request.headers, 'CSeq') ?? '', atMs: event.atMs, sent: [] }
      exchanges.push(current)
    }
  }
  return exchanges
}

class ReplayedConnection {
  readonly #exchanges: readonly Exchange[]
  readonly #socket: Socket
  readonly #udp: UdpSocket
  readonly #closed = new AbortController()
  /** How many requests were answered with the exchanges of each list. */
  readonly #used = new Map<Exchange, number>()
  readonly #ports: Ports[] = []
  #isUdp = false
  #isPlaying = false

  constructor(exchanges: readonly Exchange[], socket: Socket, udp: UdpSocket) {
    this.#exchanges = exchanges
    this.#socket = socket
    this.#udp = udp
    const greeting = exchanges.find(
      ({ key, sent }) => key.method === '' && sent.some(({ kind }) => kind === 'received'),
    )
    if (greeting) void this.#send(greeting, '')
  }

  close(): void {
    this.#closed.abort()
  }

  answer(request: HeldRequest): void {
    // A response would get between the recorded bytes. What was recorded contains those to its own requests.
    if (this.#isPlaying) return
    const key = keyOf(request, this.#isUdp)
    this.#isUdp = key.isUdp
    this.#isPlaying = key.method === 'PLAY'
    const ports = key.method === 'SETUP' ? parseClientPorts(findHeader(request.headers, 'Transport') ?? '') : undefined
    if (ports) this.#ports.push(ports)
    const sequence = findHeader(request.headers, 'CSeq') ?? ''
    const exchange = this.#choose(key)
    if (exchange) void this.#send(exchange, sequence)
    else this.#socket.write(writeOk(sequence))
  }

  /** The next recorded exchange of the most similar kind, or its last one. */
  #choose(key: RequestKey): Exchange | undefined {
    const same = this.#exchanges.filter((each) => each.key.method === key.method)
    const likeTransport = same.filter((each) => each.key.isUdp === key.isUdp)
    const like = likeTransport.filter((each) => each.key.hasLogin === key.hasLogin)
    const list = [like, likeTransport, same].find(({ length }) => length > 0)
    if (!list) return undefined
    const used = this.#used.get(list[0]!) ?? 0
    this.#used.set(list[0]!, used + 1)
    return list[Math.min(used, list.length - 1)]
  }

  async #send(exchange: Exchange, sequence: string): Promise<void> {
    const { signal } = this.#closed
    const startedMs = performance.now()
    const isStream = exchange.key.method === 'PLAY' || exchange.key.method === 'GET'
    try {
      for (const event of exchange.sent) {
        const waitMs = event.atMs - exchange.atMs - (performance.now() - startedMs)
        if (waitMs > 0) await delay(waitMs, undefined, { signal })
        if (event.kind === 'received') this.#socket.write(this.#adapt(event.bytes, exchange, sequence))
        else if (event.kind === 'rtp' || event.kind === 'rtcp') this.#sendDatagram(event)
        // A camera that was silent until it was left stays silent; after frames, the recording is over.
        else if (event.kind === 'end' || (isStream && exchange.sent.length > 1)) this.#socket.end()
      }
    } catch {} // closed
  }

  #sendDatagram(event: RecordedEvent & { kind: 'rtp' | 'rtcp' }): void {
    const port = this.#ports[event.track]?.[event.kind]
    if (port !== undefined) this.#udp.send(event.bytes, port, this.#socket.remoteAddress)
  }

  /** Text of a response only: packets pass as they are. */
  #adapt(bytes: Uint8Array, { key, sequence: recorded }: Exchange, sequence: string): Uint8Array {
    const text = Buffer.from(bytes).toString('latin1')
    const head = /RTSP\/\d\.\d \d{3}[^\r\n]*\r?\n(?:[^\r\n]+\r?\n)*/g
    const adapted = text.replace(head, (found) => {
      const numbered = found.replace(/^(CSeq:[ \t]*)(\d+)/im, (line, name, number) =>
        number === recorded ? name + sequence : line,
      )
      const ports = key.isUdp ? this.#ports.at(-1) : undefined
      if (!ports) return numbered
      const own = this.#udp.address().port
      return numbered
        .replace(/(client_port=)\d+(?:-\d+)?/i, `$1${ports.rtp}-${ports.rtcp}`)
        .replace(/(server_port=)\d+(?:-\d+)?/i, `$1${own}-${own}`)
    })
    return adapted === text ? bytes : Buffer.from(adapted, 'latin1')
  }
}

function writeOk(sequence: string): Uint8Array {
  const headers = [['CSeq', sequence]] as const
  return writeRtspMessage({ kind: 'response', status: 200, reason: 'OK', headers, body: new Uint8Array() })
}

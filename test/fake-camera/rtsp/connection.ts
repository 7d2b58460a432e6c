// One client's RTSP connection (RFC 2326): its requests in order, its session, and the packets it plays.

import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Clock } from '../../../server/base/clock.ts'
import { writeInterleaved } from '../../../server/media/rtsp/interleaved.ts'
import { findHeader, type RtspHeader, type RtspRequest, writeRtspMessage } from '../../../server/media/rtsp/message.ts'
import { RtspStreamReader } from '../../../server/media/rtsp/stream-reader.ts'
import {
  type InterleavedTransport,
  parseClientPorts,
  parseInterleavedTransport,
  writeInterleavedTransport,
  writeRtpInfo,
  writeSessionHeader,
} from '../../../server/media/rtsp/transport.ts'
import { writeSdp } from '../../support/media/sdp/write-sdp.ts'
import type { FrameCounter } from '../frame-counter.ts'
import type { MediaSource } from '../source/media-source.ts'
import type { Chunk, Player } from '../source/outlet.ts'
import type { RtpPosition } from '../source/rtp-track.ts'
import { Access, type CameraAuth } from './access.ts'
import { type DatagramRoute, DatagramTrack } from './datagram-track.ts'
import { spoilPackets } from './packet-faults.ts'
import { describeSession, type StreamFaults } from './stream-faults.ts'

type OwnStream = { readonly source: MediaSource; readonly faults: StreamFaults }

export type ConnectionOptions = {
  readonly findStream: (name: string) => OwnStream | undefined
  readonly auth: CameraAuth | undefined
  /** Told to the client; without a request or an RTCP packet for so long the connection ends. */
  readonly sessionTimeoutMs: number
  /** Packets come in datagrams, and over the connection is refused. */
  readonly isDatagram: boolean
  /** By the client's port. */
  readonly findClient: (port: number) => DatagramRoute
  readonly clock: Clock
  readonly onClose: (connection: RtspConnection) => void
  /** A picture has been handed to the connection whole; of live streams. */
  readonly onSent?: ((streamName: string, taken: FrameCounter) => void) | undefined
}

type Answer = { readonly status: number; readonly headers?: readonly RtspHeader[]; readonly body?: string }

/** A client that lets this much pile up loses pictures, as with a real camera. */
const maxQueuedBytes = 4 * 1024 * 1024

const reasons: { readonly [status: number]: string } = {
  200: 'OK',
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
  454: 'Session Not Found',
  455: 'Method Not Valid in This State',
  461: 'Unsupported Transport',
  501: 'Not Implemented',
}

const methods = 'OPTIONS, DESCRIBE, SETUP, PLAY, PAUSE, GET_PARAMETER, SET_PARAMETER, TEARDOWN'

export class RtspConnection implements Player {
  readonly #socket: Socket
  readonly #options: ConnectionOptions
  readonly #access: Access | undefined
  readonly #sessionId = randomBytes(8).toString('hex')
  readonly #transports = new Map<number, InterleavedTransport | DatagramTrack>()
  readonly #idleTimer: NodeJS.Timeout
  #stream: OwnStream | undefined
  #play: RtspRequest | undefined
  #isPlaying = false
  /** Something was dropped. */
  #waitsForKey = false
  #lastHeardMs: number
  #work = Promise.resolve()
  readonly #ended = new AbortController()
  #droppedFrames = 0

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket
    this.#options = options
    this.#access = options.auth && new Access(options.auth)
    this.#lastHeardMs = options.clock.monotonicMs()
    socket.setNoDelay(true)
    const reader = new RtspStreamReader({
      onPacket: () => {},
      onMessage: (message) => {
        if (message.kind === 'request') this.#queue(message)
      },
    })
    socket.on('data', (bytes) => {
      this.#lastHeardMs = options.clock.monotonicMs()
      try {
        reader.push(bytes)
      } catch {
        socket.destroy()
      }
    })
    // The reason does not matter here: 'close' follows.
    socket.on('error', () => {})
    socket.on('close', () => this.#end())
    this.#idleTimer = setInterval(() => this.#checkIdle(), Math.min(1000, options.sessionTimeoutMs / 4))
  }

  /** Name of the stream being played or set up. */
  get streamName(): string | undefined {
    return this.#stream?.source.name
  }

  get isPlaying(): boolean {
    return this.#isPlaying
  }

  /** Pictures not sent because the client did not take them, or while stalled. */
  get droppedFrames(): number {
    return this.#droppedFrames
  }

  /** Bytes that are no RTSP. */
  sendGarbage(bytes: Uint8Array): void {
    this.#socket.write(bytes)
  }

  /** Says that the stream is over (RTCP BYE, RFC 3550 6.6), and sends no more of it. */
  sayBye(): void {
    for (const [track, transport] of this.#transports) {
      const bytes = new Uint8Array(8)
      const view = new DataView(bytes.buffer)
      view.setUint32(0, 0x81cb0001)
      view.setUint32(4, this.#stream!.source.outlet.tracks[track]!.ssrc)
      if (transport instanceof DatagramTrack) transport.send(writeInterleaved(1, bytes))
      else this.#socket.write(writeInterleaved(transport.rtcpChannel, bytes))
    }
    this.#stopPlaying(false)
  }

  destroy(): void {
    this.#socket.destroy()
  }

  begin(positions: readonly RtpPosition[]): void {
    const request = this.#play
    if (!request) return
    this.#play = undefined
    this.#isPlaying = true
    const info = [...this.#transports.keys()].map((track) => ({
      url: `${streamUrl(request.url)}/track${track + 1}`,
      sequence: positions[track]!.sequence,
      rtpTime: positions[track]!.timestamp,
    }))
    this.#answer(request, {
      status: 200,
      headers: [
        ['Range', 'npt=now-'],
        ['RTP-Info', writeRtpInfo(info)],
      ],
    })
  }

  send(chunk: Chunk): boolean {
    const transport = this.#transports.get(chunk.track)
    if (!transport || !this.#isPlaying) return true
    if (this.#stallMs() > 0 || this.#socket.writableLength > maxQueuedBytes) this.#waitsForKey = true
    else if (chunk.isStart && chunk.isPicture) this.#waitsForKey = false
    // Pictures that follow a dropped one are of no use before the next key frame.
    if (this.#waitsForKey) {
      if (chunk.isPicture) this.#droppedFrames++
      return true
    }
    if (transport instanceof DatagramTrack) {
      transport.send(chunk.isPicture ? this.#spoil(chunk.bytes) : chunk.bytes)
      this.#tellSent(chunk)
      return true
    }
    const isOwnChannel = transport.rtpChannel !== chunk.track * 2 || transport.rtcpChannel !== chunk.track * 2 + 1
    const bytes = isOwnChannel ? rechannel(chunk.bytes, transport) : chunk.bytes
    const spoilt = chunk.isPicture ? this.#spoil(bytes) : bytes
    this.#socket.write(spoilt)
    this.#tellSent(chunk)
    return spoilt !== chunk.bytes || this.#socket.writableLength === 0
  }

  #tellSent({ taken }: Chunk): void {
    if (taken && !this.#socket.destroyed) this.#options.onSent?.(this.#stream!.source.name, taken)
  }

  #queue(request: RtspRequest): void {
    this.#work = this.#work
      .then(() => this.#waitForStall())
      .then(() => this.#handle(request))
      .then((answer) => {
        if (answer) this.#answer(request, answer)
      })
      .catch(() => this.destroy())
  }

  async #waitForStall(): Promise<void> {
    const restMs = this.#stallMs()
    if (restMs > 0) await this.#options.clock.sleep(restMs, this.#ended.signal)
  }

  /** The packets as a bad network would hand them on, while the stream's faults say so. */
  #spoil(bytes: Uint8Array): Uint8Array {
    const fault = this.#stream?.faults.packets
    if (!fault || fault.untilMs < this.#options.clock.monotonicMs()) return bytes
    return spoilPackets(fault.kind, bytes, fault.random)
  }

  /** How long the camera will go on sending nothing; 0 or less when it sends. */
  #stallMs(): number {
    return (this.#stream?.faults.stalledUntilMs ?? 0) - this.#options.clock.monotonicMs()
  }

  /** Undefined: answered later. */
  #handle(request: RtspRequest): Answer | undefined | Promise<Answer> {
    const { method } = request
    if (method === 'OPTIONS') return { status: 200, headers: [['Public', methods]] }
    const challenge = this.#access?.check(request)
    if (challenge) return { status: 401, headers: [['WWW-Authenticate', challenge]] }
    if (method === 'DESCRIBE') return this.#describe(request)
    if (method === 'SETUP') return this.#setUp(request)
    if (!this.#hasSession(request)) return { status: 454 }
    if (method === 'PLAY') return this.#startPlaying(request)
    if (method === 'PAUSE' || method === 'TEARDOWN') return this.#stopPlaying(method === 'TEARDOWN')
    if (method === 'GET_PARAMETER' || method === 'SET_PARAMETER') return { status: 200 }
    return { status: 501 }
  }

  #describe(request: RtspRequest): Answer {
    const stream = this.#options.findStream(streamName(request.url))
    if (!stream) return { status: 404 }
    if (stream.faults.status) return refuse(stream.faults.status)
    const { source, faults } = stream
    if (faults.description === 'unreadable') return { status: 200, body: '<html>\u0000 not a description' }
    return {
      status: 200,
      headers: [
        ['Content-Base', `${streamUrl(request.url)}/`],
        ['Content-Type', 'application/sdp'],
      ],
      body: writeSdp(describeSession(source.name, source.describe(), faults.description)),
    }
  }

  #setUp(request: RtspRequest): Answer | Promise<Answer> {
    const stream = this.#options.findStream(streamName(request.url))
    const track = trackIndex(request.url)
    const known = stream?.source.outlet.tracks[track]
    if (!stream || !known) return { status: 404 }
    if (stream.faults.status) return refuse(stream.faults.status)
    if (this.#isPlaying || this.#play || (this.#stream && this.#stream.source !== stream.source)) return { status: 455 }
    const asked = findHeader(request.headers, 'transport') ?? ''
    if (this.#options.isDatagram) return this.#setUpDatagrams(stream, track, asked)
    const wanted = parseInterleavedTransport(asked)
    if (!wanted) return { status: 461 }
    const transport = { ...wanted, ssrc: known.ssrc }
    this.#stream = stream
    this.#transports.set(track, transport)
    return { status: 200, headers: [['Transport', writeInterleavedTransport(transport)]] }
  }

  async #setUpDatagrams(stream: OwnStream, track: number, asked: string): Promise<Answer> {
    const ports = parseClientPorts(asked)
    const { address, from } = this.#options.findClient(this.#socket.remotePort ?? 0)
    if (!ports || address === undefined) return { status: 461 }
    const opened = await DatagramTrack.open({ ...ports, address }, from)
    // Gone meanwhile: nobody would close it.
    if (this.#ended.signal.aborted) {
      opened[Symbol.dispose]()
      return { status: 454 }
    }
    this.#stream = stream
    this.#transports.set(track, opened)
    return { status: 200, headers: [['Transport', opened.transport]] }
  }

  /** Answered when the stream begins for this client, with the numbers it begins with. */
  #startPlaying(request: RtspRequest): Answer | undefined {
    if (this.#isPlaying || this.#play || !this.#stream) return { status: 455 }
    this.#play = request
    this.#waitsForKey = false
    this.#stream.source.attach(this)
    return undefined
  }

  #stopPlaying(isTeardown: boolean): Answer {
    this.#stream?.source.detach(this)
    this.#isPlaying = false
    this.#play = undefined
    if (isTeardown) {
      this.#closeTransports()
      this.#stream = undefined
    }
    return { status: 200 }
  }

  #closeTransports(): void {
    for (const transport of this.#transports.values())
      if (transport instanceof DatagramTrack) transport[Symbol.dispose]()
    this.#transports.clear()
  }

  #hasSession(request: RtspRequest): boolean {
    const id = findHeader(request.headers, 'session')?.split(';')[0]?.trim()
    return this.#transports.size > 0 && id === this.#sessionId
  }

  #answer(request: RtspRequest, { status, headers = [], body = '' }: Answer): void {
    const session = { id: this.#sessionId, timeoutMs: this.#options.sessionTimeoutMs }
    const message = writeRtspMessage({
      kind: 'response',
      status,
      reason: reasons[status] ?? 'Error',
      headers: [
        ['CSeq', findHeader(request.headers, 'cseq') ?? '0'],
        ['Server', 'fake-camera'],
        ...(this.#transports.size > 0 ? ([['Session', writeSessionHeader(session)]] as const) : []),
        ...headers,
      ],
      body: new TextEncoder().encode(body),
    })
    this.#socket.write(message)
  }

  #checkIdle(): void {
    if (this.#options.clock.monotonicMs() - this.#lastHeardMs > this.#options.sessionTimeoutMs) this.#socket.destroy()
  }

  #end(): void {
    this.#ended.abort()
    clearInterval(this.#idleTimer)
    this.#stream?.source.detach(this)
    this.#isPlaying = false
    this.#closeTransports()
    this.#options.onClose(this)
  }
}

/** A login that was right before is asked for again, and a redirect leads nowhere. */
function refuse(status: number): Answer {
  if (status === 401) return { status, headers: [['WWW-Authenticate', 'Basic realm="fake camera"']] }
  return status >= 300 && status < 400
    ? { status, headers: [['Location', 'rtsp://127.0.0.1:9/elsewhere']] }
    : { status }
}

/** The URL without its track and trailing slash. */
function streamUrl(url: string): string {
  return url.replace(/\/track\d+\/?$/, '').replace(/\/+$/, '')
}

function streamName(url: string): string {
  const path = URL.canParse(url) ? new URL(streamUrl(url)).pathname : ''
  return decodeURIComponent(path.replace(/^\/+/, ''))
}

function trackIndex(url: string): number {
  return Number(/\/track(\d+)\/?$/.exec(url)?.[1] ?? 0) - 1
}

/** A copy of framed packets for other channels: the lower of the pair carries RTP, the other RTCP. */
function rechannel(bytes: Uint8Array, transport: InterleavedTransport): Uint8Array {
  const copy = bytes.slice()
  for (let at = 0; at < copy.length; at += 4 + ((copy[at + 2]! << 8) | copy[at + 3]!)) {
    copy[at + 1] = copy[at + 1]! & 1 ? transport.rtcpChannel : transport.rtpChannel
  }
  return copy
}

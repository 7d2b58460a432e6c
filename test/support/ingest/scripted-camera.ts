// An RTSP server for tests: answers as told and sends the pictures it is told to. Only the tests of this folder and
// test/hostile use it; a camera with a picture of its own is test/fake-camera.

import { createSocket as createUdpSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { writeRtpPacket } from '../../../server/media/rtp/rtp-header.ts'
import { writeInterleaved } from '../../../server/media/rtsp/interleaved.ts'
import { findHeader, type RtspHeader, type RtspRequest, writeRtspMessage } from '../../../server/media/rtsp/message.ts'
import { RtspStreamReader } from '../../../server/media/rtsp/stream-reader.ts'
import { parseClientPorts } from '../../../server/media/rtsp/transport.ts'
import { packetizeAac } from '../media/aac/packetizer.ts'
import { packetizeH264 } from '../media/h264/packetizer.ts'

const bytesOf = (hex: string) => Uint8Array.from(hex.match(/../g)!, (byte) => parseInt(byte, 16))

/** Of x264. */
export const samplePps = bytesOf('68ce0fc8')
export const sampleSps = {
  '640x360': bytesOf('6742c01eda0280bfe5c044000003000400000300c83c58ba80'),
  '1920x1080': bytesOf('6742c028da01e0089f97011000000300100000030320f1832a'),
}

export const videoSdp = `v=0
s=test
m=video 0 RTP/AVP 96
a=rtpmap:96 H264/90000
a=fmtp:96 packetization-mode=1
a=control:track1
`
export const audioVideoSdp = `${videoSdp}m=audio 0 RTP/AVP 97
a=rtpmap:97 MPEG4-GENERIC/48000/2
a=fmtp:97 mode=AAC-hbr; sizelength=13; indexlength=3; indexdeltalength=3; config=1190
a=control:track2
`

/** `text`: sent as it is, instead of a message made of the rest. */
export type ScriptedAnswer = { status?: number; headers?: RtspHeader[]; body?: string; text?: string }

export type Script = {
  sdp?: string
  /** Overrides the usual answer; `false` = none at all. */
  answer?: (request: RtspRequest, count: number) => ScriptedAnswer | false | undefined
  /** For rtsps. */
  tls?: { key: string; cert: string }
  /** Sends datagrams to whom asks for them: always, besides TCP, or not at all (the default). */
  udp?: 'only' | 'also'
  /** When a connection is there, before any request. */
  greet?: (socket: Socket) => void
  /** When PLAY was asked and before it is answered. */
  beforePlay?: (sender: Sender) => void
  /** Begins to send when PLAY has been answered. */
  play?: (sender: Sender) => void
}

type Ports = { readonly rtp: number; readonly rtcp: number }

/** Sends into one connection, or to the ports its client asked for. */
export class Sender {
  readonly socket: Socket
  ssrc = 7
  sequence = 65_530
  /** Channels of the two tracks. */
  channels = [0, 2]
  #audioSequence = 1
  readonly #udp: UdpSocket
  readonly #ports: readonly Ports[]

  constructor(socket: Socket, udp: UdpSocket, ports: readonly Ports[]) {
    this.socket = socket
    this.#udp = udp
    this.#ports = ports
  }

  /** The packets of one picture, numbered, in order. */
  frameBytes(timestamp: number, isKey: boolean, size: keyof typeof sampleSps = '640x360'): Uint8Array[] {
    const slice = new Uint8Array(3000).fill(0x55)
    slice.set([0x60 | (isKey ? 5 : 1), 0x88])
    const payloads = packetizeH264(isKey ? [sampleSps[size], samplePps, slice] : [slice])
    return payloads.map((payload, i) => this.packet(payload, timestamp, i === payloads.length - 1))
  }

  packet(payload: Uint8Array, timestamp: number, isMarked: boolean): Uint8Array {
    const sequence = this.sequence++ & 0xffff
    return writeRtpPacket({ payloadType: 96, isMarked, sequence, timestamp: timestamp >>> 0, ssrc: this.ssrc }, payload)
  }

  sendFrame(timestamp: number, isKey: boolean, size: keyof typeof sampleSps = '640x360'): void {
    for (const packet of this.frameBytes(timestamp, isKey, size)) this.send(0, packet)
  }

  audio(timestamp: number): void {
    const payload = packetizeAac([Uint8Array.of(1, 2, 3), Uint8Array.of(4, 5)])
    const sequence = this.#audioSequence++ & 0xffff
    const fields = { payloadType: 97, isMarked: true, sequence, timestamp: timestamp >>> 0, ssrc: 8 }
    this.send(1, writeRtpPacket(fields, payload))
  }

  /** RTP, or RTCP, of a track: 0 picture, 1 audio. */
  send(track: number, packet: Uint8Array, isRtcp = false): void {
    const ports = this.#ports[track]
    if (ports) this.#udp.send(packet, isRtcp ? ports.rtcp : ports.rtp, '127.0.0.1')
    else this.write(writeInterleaved(this.channels[track]! + (isRtcp ? 1 : 0), packet))
  }

  write(bytes: Uint8Array | string): void {
    if (!this.socket.destroyed) this.socket.write(bytes)
  }
}

export type ScriptedCamera = AsyncDisposable & {
  readonly port: number
  readonly url: string
  /** Every request received, as `METHOD url`. */
  readonly requests: string[]
  /** Where the camera's datagrams come from, and what it got there. */
  readonly udpPort: number
  readonly datagrams: Uint8Array[]
}

export async function openScriptedCamera(script: Script = {}): Promise<ScriptedCamera> {
  const requests: string[] = []
  const datagrams: Uint8Array[] = []
  const sockets = new Set<Socket>()
  const udp = createUdpSocket('udp4')
  udp.on('message', (message) => datagrams.push(message))
  udp.bind(0, '127.0.0.1')
  await once(udp, 'listening')
  const serve = (socket: Socket) => {
    sockets.add(socket)
    const ports: Ports[] = []
    const sender = new Sender(socket, udp, ports)
    script.greet?.(socket)
    const onMessage = (request: RtspRequest) => {
      requests.push(`${request.method} ${request.url}`)
      if (request.method === 'PLAY') script.beforePlay?.(sender)
      const scripted = script.answer?.(request, requests.length)
      if (scripted === false) return
      const usual = usualAnswer(request, script, udp.address().port)
      const { status = 200, headers = [], body = '', text } = scripted ?? usual
      const asked = parseClientPorts(findHeader(request.headers, 'Transport') ?? '')
      if (request.method === 'SETUP' && asked && status === 200) ports.push(asked)
      const cseq: RtspHeader = ['CSeq', findHeader(request.headers, 'CSeq') ?? '']
      const bytes = new TextEncoder().encode(body)
      const message = { kind: 'response', status, reason: 'x', headers: [cseq, ...headers], body: bytes } as const
      sender.write(text ?? writeRtspMessage(message))
      if (request.method === 'PLAY' && status === 200) script.play?.(sender)
    }
    const reader = new RtspStreamReader({
      onPacket: () => {},
      onMessage: (message) => message.kind === 'request' && onMessage(message),
    })
    socket.on('data', (bytes) => {
      try {
        reader.push(bytes)
      } catch {
        socket.destroy()
      }
    })
    socket.on('error', () => {})
  }
  const server = script.tls ? createTlsServer(script.tls, serve) : createServer(serve)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = address && typeof address === 'object' ? address.port : 0
  return {
    port,
    url: `${script.tls ? 'rtsps' : 'rtsp'}://127.0.0.1:${port}/live`,
    requests,
    udpPort: udp.address().port,
    datagrams,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      udp.close()
      server.close()
      await once(server, 'close')
    },
  }
}

function usualAnswer(request: RtspRequest, { sdp = videoSdp, udp }: Script, udpPort: number): ScriptedAnswer {
  const { method, url, headers } = request
  if (method === 'OPTIONS') return { headers: [['Public', 'OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER, TEARDOWN']] }
  if (method === 'DESCRIBE') return { headers: [['Content-Base', `${url}/`]], body: sdp }
  if (method !== 'SETUP') return {}
  const wanted = findHeader(headers, 'Transport') ?? ''
  const isUdp = parseClientPorts(wanted) !== undefined
  if (isUdp ? udp === undefined : udp === 'only') return { status: 461 }
  return {
    headers: [
      ['Transport', isUdp ? `${wanted};server_port=${udpPort}-${udpPort}` : wanted],
      ['Session', '12345;timeout=60'],
    ],
  }
}

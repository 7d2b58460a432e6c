// An RTSP server for the tests of this folder: answers as told, sends the pictures it is told to. Of the whole repository only
// those tests use it; a camera with a picture of its own is test/fake-camera.

import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { packetizeAac } from '../media/aac/packetizer.ts'
import { packetizeH264 } from '../media/h264/packetizer.ts'
import { writeRtpPacket } from '../media/rtp/rtp-header.ts'
import { writeInterleaved } from '../media/rtsp/interleaved.ts'
import { findHeader, type RtspHeader, type RtspRequest, writeRtspMessage } from '../media/rtsp/message.ts'
import { RtspStreamReader } from '../media/rtsp/stream-reader.ts'

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

export type ScriptedAnswer = { status?: number; headers?: RtspHeader[]; body?: string }

export type Script = {
  sdp?: string
  /** Overrides the usual answer; `false` = none at all. */
  answer?: (request: RtspRequest, count: number) => ScriptedAnswer | false | undefined
  /** For rtsps. */
  tls?: { key: string; cert: string }
  /** Begins to send when PLAY has been answered. */
  play?: (sender: Sender) => void
}

/** Sends into one connection. */
export class Sender {
  readonly socket: Socket
  #sequence = 65_530
  #audioSequence = 1

  constructor(socket: Socket) {
    this.socket = socket
  }

  picture(timestamp: number, isKey: boolean, size: keyof typeof sampleSps = '640x360'): void {
    const slice = new Uint8Array(3000).fill(0x55)
    slice.set([0x60 | (isKey ? 5 : 1), 0x88])
    const payloads = packetizeH264(isKey ? [sampleSps[size], samplePps, slice] : [slice])
    for (const [i, payload] of payloads.entries()) {
      const sequence = this.#sequence++ & 0xffff
      const isMarked = i === payloads.length - 1
      this.#send(
        0,
        writeRtpPacket({ payloadType: 96, isMarked, sequence, timestamp: timestamp >>> 0, ssrc: 7 }, payload),
      )
    }
  }

  sound(timestamp: number): void {
    const payload = packetizeAac([Uint8Array.of(1, 2, 3), Uint8Array.of(4, 5)])
    const sequence = this.#audioSequence++ & 0xffff
    this.#send(
      2,
      writeRtpPacket({ payloadType: 97, isMarked: true, sequence, timestamp: timestamp >>> 0, ssrc: 8 }, payload),
    )
  }

  #send(channel: number, packet: Uint8Array): void {
    if (!this.socket.destroyed) this.socket.write(writeInterleaved(channel, packet))
  }
}

export type ScriptedCamera = AsyncDisposable & {
  readonly port: number
  readonly url: string
  /** Every request received, as `METHOD url`. */
  readonly requests: string[]
}

export async function openScriptedCamera(script: Script = {}): Promise<ScriptedCamera> {
  const requests: string[] = []
  const sockets = new Set<Socket>()
  const serve = (socket: Socket) => {
    sockets.add(socket)
    const sender = new Sender(socket)
    const onMessage = (request: RtspRequest) => {
      requests.push(`${request.method} ${request.url}`)
      const scripted = script.answer?.(request, requests.length)
      if (scripted === false) return
      const { status = 200, headers = [], body = '' } = scripted ?? usualAnswer(request, script)
      const cseq: RtspHeader = ['CSeq', findHeader(request.headers, 'CSeq') ?? '']
      const bytes = new TextEncoder().encode(body)
      socket.write(
        writeRtspMessage({ kind: 'response', status, reason: 'x', headers: [cseq, ...headers], body: bytes }),
      )
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
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function usualAnswer({ method, url, headers }: RtspRequest, { sdp = videoSdp }: Script): ScriptedAnswer {
  if (method === 'OPTIONS') return { headers: [['Public', 'OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER, TEARDOWN']] }
  if (method === 'DESCRIBE') return { headers: [['Content-Base', `${url}/`]], body: sdp }
  if (method !== 'SETUP') return {}
  const transport = findHeader(headers, 'Transport') ?? ''
  return {
    headers: [
      ['Transport', transport],
      ['Session', '12345;timeout=60'],
    ],
  }
}

// A small RTSP client for the tests of the fake camera, from the service's own readers. It does as it is told and
// remembers what it was sent; reconnecting and keeping alive are the business of the service's client.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createAuthorizer } from '../../server/ingest/network/camera-auth.ts'
import { AacDepacketizer, parseAacHeaderSizes } from '../../server/media/aac/depacketizer.ts'
import type { VideoFormat } from '../../server/media/frame.ts'
import { h264Codec } from '../../server/media/h264/h264-codec.ts'
import { h265Codec } from '../../server/media/h265/h265-codec.ts'
import { JpegDepacketizer } from '../../server/media/jpeg/depacketizer.ts'
import { NalDepacketizer } from '../../server/media/nal/nal-depacketizer.ts'
import { createRtpHeader, readRtpHeader } from '../../server/media/rtp/rtp-header.ts'
import {
  findHeader,
  listHeaders,
  type RtspHeader,
  type RtspResponse,
  writeRtspMessage,
} from '../../server/media/rtsp/message.ts'
import { RtspStreamReader } from '../../server/media/rtsp/stream-reader.ts'
import { parseSdp } from '../../server/media/sdp/parse-sdp.ts'
import type { Sdp, SdpMedia } from '../../server/media/sdp/sdp.ts'
import type { VideoDepacketizer, VideoSink } from '../../server/media/video-depacketizer.ts'

export type ReceivedFrame = { readonly data: Uint8Array; readonly timestamp: number; readonly isKey: boolean }
export type ReceivedPacket = { readonly sequence: number; readonly timestamp: number; readonly ssrc: number }
export type ReceivedReport = { readonly ssrc: number; readonly unixMs: number; readonly timestamp: number }

export class RtspClient implements Disposable {
  readonly frames: ReceivedFrame[] = []
  readonly blocks: { readonly data: Uint8Array; readonly timestamp: number }[] = []
  readonly packets: ReceivedPacket[][] = [[], []]
  readonly reports: ReceivedReport[] = []
  readonly formats: VideoFormat[] = []
  sdp: Sdp | undefined
  readonly #url: string
  readonly #socket: Socket
  readonly #credentials: { username: string; password: string } | undefined
  readonly #responses: { resolve(response: RtspResponse): void; reject(error: Error): void }[] = []
  #video: VideoDepacketizer | undefined
  #audio: AacDepacketizer | undefined
  #authorization: ((method: string, url: string) => string) | undefined
  #firstChannel = 0
  #sequence = 0
  #session: string | undefined
  /** Bytes that were no RTSP. */
  skippedBytes = 0

  private constructor(url: string, socket: Socket, credentials: { username: string; password: string } | undefined) {
    this.#url = url
    this.#socket = socket
    this.#credentials = credentials
    const reader = new RtspStreamReader({
      onPacket: (channel, bytes, start, end) => this.#onPacket(channel, bytes, start, end),
      onMessage: (message) => {
        if (message.kind === 'response') this.#responses.shift()?.resolve(message)
      },
      onSkipped: (bytes) => {
        this.skippedBytes += bytes
      },
    })
    socket.on('data', (bytes) => {
      try {
        reader.push(bytes)
      } catch {
        socket.destroy()
      }
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      for (const { reject } of this.#responses.splice(0)) reject(new Error('the connection was closed'))
    })
  }

  static async open(url: string, credentials?: { username: string; password: string }): Promise<RtspClient> {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    return new RtspClient(url, socket, credentials)
  }

  /** Connected, set up with all tracks and playing. */
  static async play(url: string, credentials?: { username: string; password: string }): Promise<RtspClient> {
    const client = await RtspClient.open(url, credentials)
    await client.describe()
    await client.setUp()
    await client.request('PLAY')
    return client
  }

  get isClosed(): boolean {
    return this.#socket.destroyed || this.#socket.readableEnded
  }

  get closed(): Promise<unknown> {
    return this.isClosed ? Promise.resolve() : once(this.#socket, 'close')
  }

  /** One request; a challenge is answered once, when there are credentials. Rejects when the connection ends before. */
  async request(method: string, url = this.#url, headers: readonly RtspHeader[] = []): Promise<RtspResponse> {
    const response = await this.#exchange(method, url, headers)
    if (response.status !== 401 || !this.#credentials) return response
    const authorizer = createAuthorizer(listHeaders(response.headers, 'www-authenticate'), this.#credentials)
    if (!authorizer) return response
    this.#authorization = (m, u) => authorizer.authorize(m, u)
    return this.#exchange(method, url, headers)
  }

  async describe(): Promise<RtspResponse> {
    const response = await this.request('DESCRIBE')
    if (response.status === 200) this.sdp = parseSdp(new TextDecoder().decode(response.body))
    return response
  }

  /** Every track of the description, on the channels beginning with `firstChannel`. */
  async setUp(firstChannel = 0): Promise<RtspResponse[]> {
    const responses: RtspResponse[] = []
    this.#firstChannel = firstChannel
    for (const [index, media] of (this.sdp?.media ?? []).entries()) {
      if (media.type === 'video') this.#video = this.#createVideo(media)
      else if (media.type === 'audio') {
        this.#audio = new AacDepacketizer(parseAacHeaderSizes(media.payloads[0]!.parameters), (data, timestamp) =>
          this.blocks.push({ data: data.slice(), timestamp }),
        )
      }
      const channel = firstChannel + index * 2
      const transport = `RTP/AVP/TCP;unicast;interleaved=${channel}-${channel + 1}`
      responses.push(await this.request('SETUP', `${this.#url}/${media.control}`, [['Transport', transport]]))
    }
    return responses
  }

  [Symbol.dispose](): void {
    this.#socket.destroy()
  }

  async #exchange(method: string, url: string, headers: readonly RtspHeader[]): Promise<RtspResponse> {
    const all: RtspHeader[] = [['CSeq', String(++this.#sequence)], ...headers]
    if (this.#session) all.push(['Session', this.#session])
    if (this.#authorization) all.push(['Authorization', this.#authorization(method, url)])
    const answered = new Promise<RtspResponse>((resolve, reject) => {
      this.#responses.push({ resolve, reject })
    })
    this.#socket.write(writeRtspMessage({ kind: 'request', method, url, headers: all, body: new Uint8Array() }))
    const response = await answered
    this.#session = findHeader(response.headers, 'session')?.split(';')[0] ?? this.#session
    return response
  }

  #createVideo({ payloads }: SdpMedia): VideoDepacketizer {
    const sink: VideoSink = {
      onFormat: (format) => this.formats.push(format),
      onFrame: (data, timestamp, isKey) => this.frames.push({ data: data.slice(), timestamp, isKey }),
    }
    const encoding = payloads[0]?.encoding
    if (encoding === 'JPEG') return new JpegDepacketizer(sink)
    return new NalDepacketizer(encoding === 'H265' ? h265Codec : h264Codec, sink)
  }

  #onPacket(channel: number, bytes: Uint8Array, start: number, end: number): void {
    const track = (channel - this.#firstChannel) >> 1
    if ((channel - this.#firstChannel) & 1) {
      this.#onReport(bytes, start)
      return
    }
    const header = createRtpHeader()
    if (!readRtpHeader(bytes, start, end, header)) return
    const { sequence, timestamp, ssrc, payloadStart, payloadEnd, isMarked } = header
    this.packets[track]?.push({ sequence, timestamp, ssrc })
    if (track === 0) this.#video?.push(bytes, payloadStart, payloadEnd, timestamp, isMarked)
    else this.#audio?.push(bytes, payloadStart, payloadEnd, timestamp)
  }

  #onReport(bytes: Uint8Array, start: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset + start)
    if (view.getUint8(1) !== 200) return
    const unixMs = (view.getUint32(8) - 2_208_988_800) * 1000 + (view.getUint32(12) * 1000) / 2 ** 32
    this.reports.push({ ssrc: view.getUint32(4), unixMs, timestamp: view.getUint32(16) })
  }
}

// One RTSP connection over TCP or TLS: bytes in and out, answers matched to requests by CSeq. Knows nothing of sessions.
//
// Reads land in one buffer shared by all connections of a thread and are taken apart before the callback returns, so a camera
// costs no read buffer of its own and no allocation per read.

import { connect as connectTcp, isIP, type OnReadOpts, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import {
  findHeader,
  type RtspHeader,
  type RtspMessage,
  type RtspResponse,
  writeRtspMessage,
} from '../media/rtsp/message.ts'
import { RtspStreamReader } from '../media/rtsp/stream-reader.ts'
import type { TestedAddress } from './address-guard.ts'
import { CameraError, describeSocketError, toCameraError } from './camera-error.ts'
import type { CameraUrl } from './camera-url.ts'

export type RtspConnectionOptions = {
  readonly url: CameraUrl
  /** The tested address of the URL's host: what is connected to. */
  readonly address: TestedAddress
  /** Shared by connections of this thread; its content is of use only during a read. */
  readonly readBuffer: Uint8Array
  /** As `RtspStreamHandler.onPacket`. */
  onPacket(channel: number, bytes: Uint8Array, start: number, end: number): void
}

type Waiting = { resolve(response: RtspResponse): void; reject(error: CameraError): void }

export class RtspConnection implements Disposable {
  /** Resolves with the reason once the connection is gone, for whatever cause; never rejects. */
  readonly closed: Promise<CameraError>
  /** Resolves when connected (with TLS: when secured); rejects with the reason when that fails. */
  readonly opened: Promise<void>
  receivedBytes = 0
  readonly #socket: Socket
  readonly #waiting = new Map<number, Waiting>()
  readonly #resolveClosed: (error: CameraError) => void
  readonly #host: string
  #error: CameraError | undefined
  #sequence = 0

  constructor({ url, address, readBuffer, onPacket }: RtspConnectionOptions) {
    const closed = Promise.withResolvers<CameraError>()
    this.closed = closed.promise
    this.#resolveClosed = closed.resolve
    this.#host = `${url.host}:${url.port}`
    const reader = new RtspStreamReader({ onPacket, onMessage: (message) => this.#takeMessage(message) })
    const onRead = (bytes: number, buffer: Uint8Array): boolean => {
      this.receivedBytes += bytes
      if (this.#error) return false
      try {
        reader.push(buffer, 0, bytes)
      } catch (error) {
        this.#fail(toCameraError(error))
      }
      return true
    }
    this.#socket = openSocket(url, address, { buffer: readBuffer, callback: onRead })
    this.#socket.setNoDelay(true)
    this.#socket.on('error', (error) => this.#fail(describeSocketError(error, this.#host, url.isTls)))
    this.#socket.on('close', () =>
      this.#fail(new CameraError('camera_unreachable', `The camera closed the connection.`)),
    )
    this.#socket.on('end', () => this.#socket.destroy())
    const isOpen = new Promise<void>((resolve) => {
      this.#socket.once(url.isTls ? 'secureConnect' : 'connect', resolve)
    })
    this.opened = Promise.race([isOpen, this.closed.then((error) => Promise.reject(error))])
    this.opened.catch(() => {})
  }

  /** Sends the request and gives the answer, whatever its status. @throws CameraError when the connection is lost first */
  request(method: string, url: string, headers: readonly RtspHeader[]): Promise<RtspResponse> {
    if (this.#error) return Promise.reject(this.#error)
    const sequence = ++this.#sequence
    const all: RtspHeader[] = [['CSeq', String(sequence)], ...headers]
    return new Promise((resolve, reject) => {
      this.#waiting.set(sequence, { resolve, reject })
      this.#socket.write(writeRtspMessage({ kind: 'request', method, url, headers: all, body: new Uint8Array() }))
    })
  }

  /** Sends bytes that need no answer, unless the connection can't take them now. */
  send(bytes: Uint8Array): void {
    if (!this.#error && !this.#socket.writableNeedDrain) this.#socket.write(bytes)
  }

  /** Sends what is written, then closes. */
  end(): void {
    this.#socket.end()
  }

  [Symbol.dispose](): void {
    this.#socket.destroy()
    this.#fail(new CameraError('camera_unreachable', 'The connection was closed by this server.'))
  }

  #takeMessage(message: RtspMessage): void {
    const sequence = findHeader(message.headers, 'CSeq')
    if (message.kind === 'request') {
      // Cameras seldom ask us anything, but one that does (to see whether we live) waits for an answer.
      const isKnown = message.method === 'OPTIONS' || message.method === 'GET_PARAMETER'
      const headers: RtspHeader[] = [['CSeq', sequence ?? '0']]
      const [status, reason] = isKnown ? [200, 'OK'] : [501, 'Not Implemented']
      this.send(writeRtspMessage({ kind: 'response', status, reason, headers, body: new Uint8Array() }))
      return
    }
    // An answer without CSeq, from cameras that forget it, belongs to the oldest request.
    const key = sequence === undefined ? this.#waiting.keys().next().value : Number(sequence)
    if (key === undefined) return
    this.#waiting.get(key)?.resolve(message)
    this.#waiting.delete(key)
  }

  #fail(error: CameraError): void {
    if (this.#error) return
    this.#error = error
    this.#socket.destroy()
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
    this.#resolveClosed(error)
  }
}

function openSocket(url: CameraUrl, { address, family }: TestedAddress, onread: OnReadOpts): Socket {
  if (!url.isTls) return connectTcp({ host: address, port: url.port, family, onread })
  // Cameras have self-signed certificates, so there is nobody to verify: TLS here keeps out listeners, not impostors.
  const name = isIP(url.host.replace(/^\[(.*)\]$/, '$1')) ? {} : { servername: url.host }
  // Node documents `onread` here too; its types leave it out.
  const options: ConnectionOptions & { onread: OnReadOpts } = { host: address, port: url.port, ...name, onread }
  return connectTls({ ...options, rejectUnauthorized: false })
}

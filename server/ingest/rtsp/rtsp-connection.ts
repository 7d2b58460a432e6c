// One RTSP connection over TCP or TLS. It sends and receives bytes and matches responses to requests by CSeq. It does
// not know about sessions.
//
// All connections of a thread read into one shared buffer, which is parsed before the read callback returns. A camera
// therefore needs no read buffer of its own, and a read allocates no memory.

import type { Socket } from 'node:net'
import {
  findHeader,
  type RtspHeader,
  type RtspMessage,
  type RtspRequest,
  type RtspResponse,
  writeRtspMessage,
} from '../../media/rtsp/message.ts'
import { RtspStreamReader } from '../../media/rtsp/stream-reader.ts'
import type { TestedAddress } from '../network/address-guard.ts'
import { CameraError, describeRedirect, describeSocketError, toCameraError } from '../network/camera-error.ts'
import { connectCamera } from '../network/camera-socket.ts'
import type { CameraUrl } from '../network/camera-url.ts'
import type { SharedReads } from '../network/shared-reads.ts'
import type { SessionTap } from '../recorded/session-tap.ts'

export type RtspConnectionOptions = {
  readonly url: CameraUrl
  /** The tested IP address of the URL's host, to which the connection is opened. */
  readonly address: TestedAddress
  readonly reads: SharedReads
  readonly tap?: SessionTap | undefined
  /** See `RtspStreamHandler`. */
  onPacket(channel: number, bytes: Uint8Array, start: number, end: number): void
  onSkipped(bytes: number): void
  isPacket(channel: number, bytes: Uint8Array, start: number, end: number): boolean | undefined
  isExpected(channel: number, bytes: Uint8Array, start: number, end: number): boolean | undefined
}

type Waiting = { resolve(response: RtspResponse): void; reject(error: CameraError): void }

export class RtspConnection implements Disposable {
  /** Resolves with the reason when the connection has ended, whatever the cause; never rejects. */
  readonly closed: Promise<CameraError>
  /** Resolves when connected (for TLS: after the handshake); rejects with the reason if that fails. */
  readonly opened: Promise<void>
  /** The bytes received since the caller last set it to 0. */
  receivedBytes = 0
  readonly #socket: Socket
  readonly #reader: RtspStreamReader
  readonly #tap: SessionTap | undefined
  readonly #waiting = new Map<number, Waiting>()
  readonly #resolveClosed: (error: CameraError) => void
  #error: CameraError | undefined
  #sequence = 0

  constructor({ url, address, reads, tap, ...handler }: RtspConnectionOptions) {
    this.#tap = tap
    tap?.({ kind: 'connect' })
    const closed = Promise.withResolvers<CameraError>()
    this.closed = closed.promise
    this.#resolveClosed = closed.resolve
    const onMessage = (message: RtspMessage) => this.#takeMessage(message)
    this.#reader = new RtspStreamReader({ ...handler, onMessage })
    const onRead = (bytes: number, buffer: Uint8Array): boolean => {
      reads.note()
      this.receivedBytes += bytes
      tap?.({ kind: 'received', bytes: buffer.subarray(0, bytes) })
      if (this.#error) return false
      try {
        this.#reader.push(buffer, 0, bytes)
      } catch (error) {
        this.fail(toCameraError(error))
      }
      return true
    }
    this.#socket = connectCamera(url, address, { buffer: reads.buffer, callback: onRead })
    this.#socket.on('error', (error) => this.fail(describeSocketError(error, url)))
    this.#socket.on('close', () =>
      this.fail(new CameraError('camera_unreachable', 'The camera closed the connection.')),
    )
    this.#socket.on('end', () => {
      tap?.({ kind: 'end' })
      this.#socket.destroy()
    })
    const isOpen = new Promise<void>((resolve) => {
      this.#socket.once(url.isTls ? 'secureConnect' : 'connect', resolve)
    })
    this.opened = Promise.race([isOpen, this.closed.then((error) => Promise.reject(error))])
    this.opened.catch(() => {})
  }

  get isOpen(): boolean {
    return this.#error === undefined
  }

  /** The local IP address of the connection; undefined before it is open. */
  get localAddress(): string | undefined {
    return this.#socket.localAddress
  }

  /**
   * Sends a request. `answer` resolves with the camera's response, or rejects with a CameraError if the connection is
   * lost before. After `forget`, a late response is ignored.
   */
  request(
    method: string,
    url: string,
    headers: readonly RtspHeader[],
  ): { readonly answer: Promise<RtspResponse>; forget(): void } {
    if (this.#error) return { answer: Promise.reject(this.#error), forget: () => {} }
    const sequence = ++this.#sequence
    const all: RtspHeader[] = [['CSeq', String(sequence)], ...headers]
    const answer = new Promise<RtspResponse>((resolve, reject) => {
      this.#waiting.set(sequence, { resolve, reject })
      this.#write(writeRtspMessage({ kind: 'request', method, url, headers: all, body: new Uint8Array() }))
    })
    return { answer, forget: () => this.#waiting.delete(sequence) }
  }

  /** Accepts a response that is shorter than it announced. */
  takeIncomplete(): void {
    if (!this.#error) this.#reader.takeIncomplete()
  }

  /** Sends bytes that need no response. They are dropped if the connection cannot accept them now. */
  send(bytes: Uint8Array): void {
    if (!this.#error && !this.#socket.writableNeedDrain) this.#write(bytes)
  }

  /** Sends the data that was written, then closes the connection. */
  end(): void {
    this.#socket.end()
  }

  [Symbol.dispose](): void {
    if (!this.#error) this.#tap?.({ kind: 'left' })
    this.#socket.destroy()
    this.fail(new CameraError('camera_unreachable', 'The connection was closed by this server.'))
  }

  #write(bytes: Uint8Array): void {
    this.#tap?.({ kind: 'sent', bytes })
    this.#socket.write(bytes)
  }

  #takeMessage(message: RtspMessage): void {
    if (message.kind === 'request') this.#takeRequest(message)
    else this.#takeAnswer(message)
  }

  #takeAnswer(message: RtspResponse): void {
    // Some cameras omit CSeq or send a wrong one. Such a response belongs to the oldest request.
    const sequence = Number(findHeader(message.headers, 'CSeq') ?? Number.NaN)
    const key = this.#waiting.has(sequence) ? sequence : this.#waiting.keys().next().value
    if (key === undefined) return
    this.#waiting.get(key)?.resolve(message)
    this.#waiting.delete(key)
  }

  /** Cameras rarely send requests, but one that does (for example to check the connection) waits for a response. */
  #takeRequest({ method, headers }: RtspRequest): void {
    const isKnown = answeredMethods.has(method)
    const [status, reason] = isKnown ? [200, 'OK'] : [501, 'Not Implemented']
    const sequence: RtspHeader = ['CSeq', findHeader(headers, 'CSeq') ?? '0']
    this.send(writeRtspMessage({ kind: 'response', status, reason, headers: [sequence], body: new Uint8Array() }))
    if (method === 'REDIRECT') this.fail(describeRedirect(method))
    if (method === 'TEARDOWN') this.fail(new CameraError('no_frames', 'The camera ended the session.'))
  }

  /** Ends the connection for this reason. Does nothing if it has already ended. */
  fail(error: CameraError): void {
    if (this.#error) return
    this.#error = error
    this.#socket.destroy()
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
    this.#resolveClosed(error)
  }
}

const answeredMethods: ReadonlySet<string> = new Set([
  'OPTIONS',
  'GET_PARAMETER',
  'SET_PARAMETER',
  'ANNOUNCE',
  'REDIRECT',
  'TEARDOWN',
])

// One RTSP connection over TCP or TLS: bytes in and out, answers matched to requests by CSeq. Knows nothing of
// sessions.
//
// Reads land in one buffer shared by all connections of a thread and are taken apart before the callback returns, so a
// camera costs no read buffer of its own and no allocation per read.

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

export type RtspConnectionOptions = {
  readonly url: CameraUrl
  /** The tested address of the URL's host: what is connected to. */
  readonly address: TestedAddress
  readonly reads: SharedReads
  /** As `RtspStreamHandler` says. */
  onPacket(channel: number, bytes: Uint8Array, start: number, end: number): void
  onSkipped(bytes: number): void
  isPacket(channel: number, bytes: Uint8Array, start: number, end: number): boolean | undefined
  isExpected(channel: number, bytes: Uint8Array, start: number, end: number): boolean | undefined
}

type Waiting = { resolve(response: RtspResponse): void; reject(error: CameraError): void }

export class RtspConnection implements Disposable {
  /** Resolves with the reason once the connection is gone, for whatever cause; never rejects. */
  readonly closed: Promise<CameraError>
  /** Resolves when connected (with TLS: when secured); rejects with the reason when that fails. */
  readonly opened: Promise<void>
  /** Counted up; set to 0 by whoever has taken it. */
  receivedBytes = 0
  readonly #socket: Socket
  readonly #reader: RtspStreamReader
  readonly #waiting = new Map<number, Waiting>()
  readonly #resolveClosed: (error: CameraError) => void
  #error: CameraError | undefined
  #sequence = 0

  constructor({ url, address, reads, onPacket, onSkipped, isPacket, isExpected }: RtspConnectionOptions) {
    const closed = Promise.withResolvers<CameraError>()
    this.closed = closed.promise
    this.#resolveClosed = closed.resolve
    const onMessage = (message: RtspMessage) => this.#takeMessage(message)
    this.#reader = new RtspStreamReader({ onPacket, onMessage, onSkipped, isPacket, isExpected })
    const onRead = (bytes: number, buffer: Uint8Array): boolean => {
      reads.note()
      this.receivedBytes += bytes
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
    this.#socket.on('end', () => this.#socket.destroy())
    const isOpen = new Promise<void>((resolve) => {
      this.#socket.once(url.isTls ? 'secureConnect' : 'connect', resolve)
    })
    this.opened = Promise.race([isOpen, this.closed.then((error) => Promise.reject(error))])
    this.opened.catch(() => {})
  }

  get isOpen(): boolean {
    return this.#error === undefined
  }

  /** Our end of it, for sockets that shall be beside it; undefined before it is open. */
  get localAddress(): string | undefined {
    return this.#socket.localAddress
  }

  /**
   * Sends the request; `answer` is whatever the camera answers, or a CameraError when the connection is lost first.
   * After `forget` an answer that comes late is nobody's.
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
      this.#socket.write(writeRtspMessage({ kind: 'request', method, url, headers: all, body: new Uint8Array() }))
    })
    return { answer, forget: () => this.#waiting.delete(sequence) }
  }

  /** Takes an answer as whole that announced more than has come. */
  takeIncomplete(): void {
    if (!this.#error) this.#reader.takeIncomplete()
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
    this.fail(new CameraError('camera_unreachable', 'The connection was closed by this server.'))
  }

  #takeMessage(message: RtspMessage): void {
    if (message.kind === 'request') this.#takeRequest(message)
    else this.#takeAnswer(message)
  }

  #takeAnswer(message: RtspResponse): void {
    // An answer without CSeq, or with one of its own, belongs to the oldest request: there are cameras of both kinds.
    const told = Number(findHeader(message.headers, 'CSeq') ?? Number.NaN)
    const key = this.#waiting.has(told) ? told : this.#waiting.keys().next().value
    if (key === undefined) return
    this.#waiting.get(key)?.resolve(message)
    this.#waiting.delete(key)
  }

  /** Cameras seldom ask us anything, but one that does (to see whether we live) waits for an answer. */
  #takeRequest({ method, headers }: RtspRequest): void {
    const isKnown = answeredMethods.has(method)
    const [status, reason] = isKnown ? [200, 'OK'] : [501, 'Not Implemented']
    const sequence: RtspHeader = ['CSeq', findHeader(headers, 'CSeq') ?? '0']
    this.send(writeRtspMessage({ kind: 'response', status, reason, headers: [sequence], body: new Uint8Array() }))
    if (method === 'REDIRECT') this.fail(describeRedirect(method))
    if (method === 'TEARDOWN') this.fail(new CameraError('no_frames', 'The camera ended the session.'))
  }

  /** Ends the connection for this reason; nothing when it has ended. */
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

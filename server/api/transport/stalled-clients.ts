// Disconnects clients that do not read their responses. Node's own timeouts of sockets and streams restart when something
// was written since they were set, so a client could keep a response for twice as long. They also ignore a response that
// waits in an HTTP/2 stream whose window is closed.

import type { IncomingMessage } from 'node:http'
import type { Http2SecureServer, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import type { Server, Socket } from 'node:net'
import { TLSSocket, Server as TlsServer } from 'node:tls'
import type { Timeouts } from './timeouts.ts'

/** How long a connection without streams may take to close. */
const closeTimeoutMs = 1_000

type Limits = Pick<Timeouts, 'unreadTimeoutMs' | 'checkIntervalMs'>

/** HTTP/1.1 connections that a file is being sent to, which may wait longer; drained.ts watches them. */
const patient = new WeakSet<Socket>()

/** For as long as the result is not disposed of. */
export function waitPatiently({ httpVersionMajor, socket }: IncomingMessage): Disposable {
  if (httpVersionMajor !== 1) return { [Symbol.dispose]: () => {} }
  patient.add(socket)
  return { [Symbol.dispose]: () => void patient.delete(socket) }
}

/**
 * Call this once for each server. For an HTTP/2 stream, the timeout covers the time from the end of a response to its
 * last byte, which is at most one chunk of send-body.ts. Responses that have not ended are watched by their senders
 * (drained.ts).
 */
export function disconnectStalledClients(
  server: Server | Http2SecureServer,
  { unreadTimeoutMs, checkIntervalMs }: Limits,
): void {
  /** HTTP/1.1 connections, with the number of bytes read and the time of the last progress. */
  const sockets = new Map<Socket, { taken: number; sinceMs: number }>()
  /** HTTP/2 streams, with the time at which unread bytes were first noticed. */
  const streams = new Map<ServerHttp2Stream, number | undefined>()
  const cut = (stream: ServerHttp2Stream) => {
    const session = stream.session as ServerHttp2Session | undefined
    stream.destroy()
    streams.delete(stream)
    if (!session || session.closed) return
    session.close()
    // A peer that reads nothing does not read the end of the connection either.
    const hasOthers = () => [...streams.keys()].some((other) => other.session === session)
    setTimeout(() => !session.destroyed && !hasOthers() && session.destroy(), closeTimeoutMs).unref()
  }
  const check = () => {
    const nowMs = performance.now()
    for (const [socket, mark] of sockets) {
      const taken = socket.bytesWritten - socket.writableLength
      if (socket.writableLength === 0 || taken !== mark.taken || patient.has(socket)) {
        mark.taken = taken
        mark.sinceMs = nowMs
      } else if (nowMs - mark.sinceMs >= unreadTimeoutMs) socket.destroy()
    }
    for (const [stream, sinceMs] of streams) {
      if (!stream.writableEnded || stream.bufferSize === 0) continue
      if (sinceMs === undefined) streams.set(stream, nowMs)
      else if (nowMs - sinceMs >= unreadTimeoutMs) cut(stream)
    }
  }
  const track = (socket: Socket) => {
    // An HTTP/2 session bypasses the socket.
    if (socket instanceof TLSSocket && socket.alpnProtocol === 'h2') return
    sockets.set(socket, { taken: -1, sinceMs: 0 })
    socket.once('close', () => sockets.delete(socket))
  }
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', track)
  server.on('stream', (stream: ServerHttp2Stream) => {
    streams.set(stream, undefined)
    stream.once('close', () => streams.delete(stream))
  })
  let timer: NodeJS.Timeout | undefined
  server.once('listening', () => {
    timer = setInterval(check, checkIntervalMs).unref()
  })
  server.once('close', () => clearInterval(timer))
}

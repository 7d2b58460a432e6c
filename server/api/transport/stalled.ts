// Cuts off clients that do not take what they are sent. Node's own time limits of sockets and streams begin anew when
// they find that something was written since they were set, so that a client may keep an answer for twice as long; and
// they say nothing of an answer that waits in a stream of HTTP/2 whose window is closed.

import type { Http2SecureServer, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import type { Server, Socket } from 'node:net'
import { TLSSocket, Server as TlsServer } from 'node:tls'
import type { Timeouts } from './timeouts.ts'

/** How long a connection without streams may take to say goodbye. */
const farewellMs = 1_000

type Limits = Pick<Timeouts, 'untakenMs' | 'checkIntervalMs'>

/**
 * To be called once for each server. A stream of HTTP/2 has the time from the end of an answer to its last byte, which
 * is one chunk of send-body.ts at most; an answer that has not ended is the business of whoever sends it (drained.ts).
 */
export function cutStalled(server: Server | Http2SecureServer, { untakenMs, checkIntervalMs }: Limits): void {
  /** Of HTTP/1.1, with how much they have taken, and since when. */
  const sockets = new Map<Socket, { taken: number; sinceMs: number }>()
  /** With when they were first seen to have a rest. */
  const streams = new Map<ServerHttp2Stream, number | undefined>()
  const cut = (stream: ServerHttp2Stream) => {
    const session = stream.session as ServerHttp2Session | undefined
    stream.destroy()
    streams.delete(stream)
    if (!session || session.closed) return
    session.close()
    // A peer that takes nothing at all does not take the goodbye either.
    const hasOthers = () => [...streams.keys()].some((other) => other.session === session)
    setTimeout(() => !session.destroyed && !hasOthers() && session.destroy(), farewellMs).unref()
  }
  const look = () => {
    const nowMs = performance.now()
    for (const [socket, mark] of sockets) {
      const taken = socket.bytesWritten - socket.writableLength
      if (socket.writableLength === 0 || taken !== mark.taken) {
        mark.taken = taken
        mark.sinceMs = nowMs
      } else if (nowMs - mark.sinceMs >= untakenMs) socket.destroy()
    }
    for (const [stream, sinceMs] of streams) {
      if (!stream.writableEnded || stream.bufferSize === 0) continue
      if (sinceMs === undefined) streams.set(stream, nowMs)
      else if (nowMs - sinceMs >= untakenMs) cut(stream)
    }
  }
  const track = (socket: Socket) => {
    // The session of HTTP/2 takes the bytes past the socket.
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
    timer = setInterval(look, checkIntervalMs).unref()
  })
  server.once('close', () => clearInterval(timer))
}

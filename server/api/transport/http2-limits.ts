// Time limits of HTTP/2 connections, which Node's HTTP/2 server does not have: a session without streams is closed
// after a while, and a request must be complete in time. (HTTP/1.1 has its own in the options of the server.)

import type { Http2SecureServer, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import { constants } from 'node:http2'
import type { Timeouts } from './timeouts.ts'

export function limitHttp2(server: Http2SecureServer, timeouts: Timeouts): void {
  server.on('session', (session) => limitSession(session, timeouts))
}

function limitSession(session: ServerHttp2Session, { idleMs, requestMs, stallMs }: Timeouts): void {
  let streams = 0
  let idle: NodeJS.Timeout | undefined
  const waitIdle = () => {
    idle = setTimeout(() => {
      // `close` waits for the peer; a peer that does not answer loses the connection a little later.
      session.close()
      idle = setTimeout(() => session.destroy(), 1_000)
    }, idleMs)
  }
  session.on('stream', (stream) => {
    streams++
    clearTimeout(idle)
    limitRequest(stream, requestMs)
    // Called after `limitSilence`, which may have answered.
    stream.setTimeout(stallMs, () => stream.writableEnded || stream.close(constants.NGHTTP2_CANCEL))
    stream.once('close', () => {
      streams--
      if (streams === 0 && !session.closed && !session.destroyed) waitIdle()
    })
  })
  session.once('close', () => clearTimeout(idle))
  // The session's own timer cannot tell a slow peer from one that watches a quiet camera; those of the streams can.
  session.setTimeout(0)
  waitIdle()
}

function limitRequest(stream: ServerHttp2Stream, requestMs: number): void {
  if (stream.readableEnded || stream.endAfterHeaders) return
  const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), requestMs)
  stream.once('end', () => clearTimeout(timer))
  stream.once('close', () => clearTimeout(timer))
}

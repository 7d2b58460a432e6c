// The way of a request from the connection to whatever answers it: a connection that keeps being refused waits, what is
// in memory is answered at once, and the rest takes turns, by client. One who asks without end gets no more of the
// server than each of the others.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { addressBlock } from '../../auth/guard/address-block.ts'
import { isGone } from './drained.ts'
import { FairScheduler } from './fair-scheduler.ts'
import { limitSessionStreams } from './limit-session-streams.ts'
import { RefusalBackoff } from './refusal-backoff.ts'
import type { OriginCheck } from './request-origin.ts'

export type IntakeOptions = {
  readonly origin: Pick<OriginCheck, 'findClient' | 'isFromProxy'>
  /** True when it has answered. */
  readonly answerFromMemory: (request: IncomingMessage, response: ServerResponse, connection: object) => boolean
  readonly handle: RequestListener
}

/** Of requests that are routed: so many, or fewer when they take longer, in one turn of the loop. */
const perTurn = 16
const maxTurnMs = 8

export function createIntake({ origin, answerFromMemory, handle }: IntakeOptions): RequestListener {
  const turns = new FairScheduler({ perTurn, maxMs: maxTurnMs })
  const patience = new RefusalBackoff()
  const begin = (request: IncomingMessage, response: ServerResponse, connection: Connection) => {
    if (answerFromMemory(request, response, connection)) {
      if (response.statusCode >= 400 || patience.has(connection)) patience.note(connection, response.statusCode)
      return
    }
    const route = () => {
      if (isGone(response)) return
      response.once('close', () => {
        if (response.headersSent) patience.note(connection, response.statusCode)
      })
      handle(request, response)
    }
    turns.take(addressBlock(origin.findClient(request)), route, connection)
  }
  const wait = (request: IncomingMessage, response: ServerResponse, connection: Connection) => {
    // A proxy has one connection for many clients.
    const waitMs = origin.isFromProxy(request) ? 0 : patience.takeMs(connection)
    if (waitMs === 0) {
      begin(request, response, connection)
      return
    }
    if ('settings' in connection) limitSessionStreams(connection)
    if (waitMs === undefined) refuse(request)
    else
      setTimeout(() => {
        if (!isGone(response)) begin(request, response, connection)
      }, waitMs)
  }
  return (request, response) => {
    const connection = connectionOf(request)
    if (!connection) return
    if (patience.has(connection)) wait(request, response, connection)
    else begin(request, response, connection)
  }
}

type AnyRequest = IncomingMessage & { readonly stream?: ServerHttp2Stream }
type Connection = Socket | ServerHttp2Session

/** Undefined when it is gone. */
function connectionOf({ stream, socket }: AnyRequest): Connection | undefined {
  return stream ? (stream.session as ServerHttp2Session | undefined) : socket
}

function refuse({ stream, socket }: AnyRequest): void {
  if (stream) stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM)
  else socket.destroy()
}

// What HTTP asks of a request whatever its path, where Node would answer by itself and without our shape of errors, or
// would quietly take one of two headers that contradict each other.

import { type IncomingMessage, METHODS, type RequestListener, type ServerResponse } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { Socket } from 'node:net'
import { writeProblemTo } from '../answer.ts'
import { HttpError, unknownMethod } from '../problem.ts'
import { closeSoon } from './close-soon.ts'

/** Requests of a connection of HTTP/1.1 that wait for the answer to an earlier one. Few clients send any before it. */
const maxPipelined = 32

const knownMethods: ReadonlySet<string> = new Set(METHODS)

/** `onRequest`, for requests that keep the rules; the others are answered. */
export function keepRules(onRequest: RequestListener): RequestListener {
  return (request, response) => {
    if (!isHttp2(request)) {
      // What came behind a request after whose answer the connection ends. RFC 9112 section 9.6.
      if (request.socket.writableEnded) return
      endInStages(request)
      if (request.httpVersionMajor !== 1) {
        refuse(
          request,
          response,
          new HttpError(400, 'parse_error', 'The request line names a version other than HTTP/1.1 and HTTP/1.0.'),
        )
        return
      }
      if (isTooFarAhead(request, response)) {
        cutOff(request.socket)
        return
      }
      if (!isHostClear(request)) {
        refuse(request, response, new HttpError(400, 'parse_error', 'The request needs one Host header.'))
        return
      }
    } else {
      // Refused already: see connections.ts.
      if ((request as unknown as Http2ServerRequest).stream.closed) return
      const { method = '' } = request
      // The parser of HTTP/1.1 knows no others, and Fastify none of them.
      if (!knownMethods.has(method)) {
        refuse(request, response, unknownMethod(method))
        return
      }
      joinCredentials(request)
    }
    onRequest(request, response)
  }
}

/** For the event `checkExpectation`: an `Expect` other than `100-continue`. RFC 9110 section 10.1.1. */
export const refuseExpectation: RequestListener = (request, response) => {
  if (!isHttp2(request)) endInStages(request)
  refuse(
    request,
    response,
    new HttpError(417, 'expectation_failed', 'The only expectation this service meets is 100-continue.'),
  )
}

/** By what it came with: the parser of HTTP/1.1 reads `GET / HTTP/2.0` too, and believes what it says. */
function isHttp2(request: IncomingMessage): boolean {
  return 'stream' in request
}

const pipelined = new WeakMap<Socket, number>()

/**
 * Node answers in order: what cannot be sent yet has no socket. All of them are in memory until somebody takes the
 * first.
 */
function isTooFarAhead({ socket }: IncomingMessage, response: ServerResponse): boolean {
  if (response.socket !== null) return false
  const count = (pipelined.get(socket) ?? 0) + 1
  if (count > maxPipelined) return true
  pipelined.set(socket, count)
  response.once('close', () => pipelined.set(socket, pipelined.get(socket)! - 1))
  return false
}

/**
 * What came in the same chunk of bytes is parsed all the same, and Node ends each of these requests with an error of
 * its own when the socket closes. To write down for a thousand of them where that happened took longer than all else.
 */
function cutOff(socket: Socket): void {
  if (socket.destroyed) return
  const limit = Error.stackTraceLimit
  socket.prependOnceListener('close', () => {
    Error.stackTraceLimit = 0
  })
  socket.once('close', () => {
    Error.stackTraceLimit = limit
  })
  socket.destroy()
}

/**
 * Node closes a connection with the last answer. If bytes of a body were unread, the system would reset it, and a client
 * that still sends might not see why it was refused: RFC 9112 section 9.6, github.com/nodejs/node/issues/12339.
 */
function endInStages(request: IncomingMessage): void {
  const { headers, socket } = request
  if (!('content-length' in headers || 'transfer-encoding' in headers)) return
  socket.destroySoon = () => {
    if (request.complete) {
      Socket.prototype.destroySoon.call(socket)
      return
    }
    socket.end()
    request.resume()
    closeSoon(socket)
  }
}

/** RFC 9112 section 3.2. Nothing is made of what it says. */
function isHostClear({ httpVersionMinor, headers: { host } }: IncomingMessage): boolean {
  return host === undefined ? httpVersionMinor === 0 : !host.includes(',')
}

/**
 * Two are none: as HTTP/1.1 does by `joinDuplicateHeaders`. Without it the first would count, and a proxy may look at
 * the other.
 */
function joinCredentials({ headers, rawHeaders }: IncomingMessage): void {
  if (headers.authorization === undefined) return
  const all = rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1] === 'authorization')
  if (all.length > 1) headers.authorization = all.join(', ')
}

/** If the answer has begun, it is broken off. */
export function refuse(request: IncomingMessage, response: ServerResponse, { problem }: HttpError): void {
  // The body, if there is one, stays unread; HTTP/2 has no such header and closes the stream alone.
  const headers = isHttp2(request) ? {} : { connection: 'close' }
  writeProblemTo(response, { ...problem, headers: { ...problem.headers, ...headers } })
}

// What a connection is told when the HTTP/1.1 parser gives up on it: too long, too slow, an unknown method, or no HTTP.
// Then it is closed.

import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { openHeaders } from '../answer.ts'
import { HttpError, unknownMethod, writeProblem } from '../problem.ts'
import { closeSoon } from './close-soon.ts'

/** `rawPacket`: what the parser stopped in. */
type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: unknown }

/**
 * Whether nothing of a request came in the time for its headers. Browsers and proxies open connections before they need
 * them.
 */
export function isUnused({ code }: ParserError, socket: Socket): boolean {
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0
}

/** As Fastify's `clientErrorHandler`. Faults of TLS and of the network are not answered: there is nobody to read it. */
export function answerBrokenRequest(error: ParserError, socket: Socket): void {
  // The rest of what a peer sends that was already told so.
  if (socket.writableEnded) return
  // A request may be on its way that would take this for its answer, while one that finds no connection is sent again.
  const problem = isUnused(error, socket) ? undefined : problemOf(error)?.problem
  // Part of another answer may be on its way: then nothing that is written now could be understood.
  if (!problem || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy()
    return
  }
  const body = writeProblem(problem)
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...openHeaders,
    ...problem.headers,
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.end([`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`, ...lines, '', body].join('\r\n'))
  closeSoon(socket)
}

function problemOf({ code = '', rawPacket }: ParserError): HttpError | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new HttpError(431, 'payload_too_large', 'The headers of the request are too large.')
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new HttpError(408, 'request_timeout', 'The request took too long to arrive.')
  }
  const method = code === 'HPE_INVALID_METHOD' ? findMethod(rawPacket) : undefined
  if (method !== undefined) return unknownMethod(method)
  return code.startsWith('HPE_')
    ? new HttpError(400, 'parse_error', 'The request breaks the rules of HTTP and could not be read.')
    : undefined
}

/** The method of a request line that is well-formed otherwise. */
function findMethod(packet: unknown): string | undefined {
  const start = Buffer.isBuffer(packet) ? packet.toString('latin1', 0, 8192) : ''
  return /^([\w!#$%&'*+.^`|~-]{1,40}) \S+ HTTP\/1\.[01]\r?\n/.exec(start)?.[1]
}

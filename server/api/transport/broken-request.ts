// What a connection is told when the HTTP/1.1 parser gives up on it: too long, too slow, or no HTTP. Then it is closed.

import type { Socket } from 'node:net'
import { HttpError, writeProblem } from '../problem.ts'
import { closeSoon } from './close-soon.ts'

/** As Fastify's `clientErrorHandler`. Faults of TLS and of the network are not answered: there is nobody to read it. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  // The rest of what a peer sends that was already told so.
  if (socket.writableEnded) return
  const problem = problemOf(error.code ?? '')
  // Part of another answer may be on its way: then nothing that is written now could be understood.
  if (!problem || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy()
    return
  }
  const body = writeProblem(problem.problem)
  socket.end(
    [
      `HTTP/1.1 ${problem.problem.status} ${reasons[problem.problem.status]}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Access-Control-Allow-Origin: *',
      'Strict-Transport-Security: max-age=31536000',
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
  closeSoon(socket)
}

const reasons: Record<number, string> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

function problemOf(code: string): HttpError | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new HttpError(431, 'payload_too_large', 'The headers of the request are too large.')
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new HttpError(408, 'request_timeout', 'The request took too long to arrive.')
  }
  return code.startsWith('HPE_') ? new HttpError(400, 'parse_error', 'This is not HTTP.') : undefined
}

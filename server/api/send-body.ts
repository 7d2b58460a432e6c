// Sends the body of an answer, a large one piece by piece: what a client does not take stays one buffer here, which many answers may
// share, and is neither copied nor encrypted before its time.

import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { AppError } from '../base/error.ts'
import { hasDrained } from './transport/drained.ts'
import type { Tally } from './transport/tally.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Bytes of large answers that are being sent, by the client's address. */
    unsentBytes: Tally
  }
}

/** Answers up to this size are handed over whole. */
export const pieceBytes = 64 * 1024

/** The head is out. `bytes` must not change any more. */
export function sendBody(response: ServerResponse, bytes: Uint8Array): void {
  if (bytes.length <= pieceBytes) response.end(bytes)
  else void sendPieces(response, bytes)
}

/**
 * Before the head of a large answer that this client alone gets: it is counted until it is sent. Throws 'unavailable' when the client's
 * address has too much to take already.
 */
export function countUnsent({ raw, request, server }: FastifyReply, bytes: number): void {
  if (bytes <= pieceBytes) return
  const { clientIp } = request
  if (!server.unsentBytes.take(clientIp, bytes)) {
    throw new AppError('unavailable', 'too much waits to be sent to this address', { retryAfterSeconds: 5 })
  }
  raw.once('close', () => server.unsentBytes.give(clientIp, bytes))
}

async function sendPieces(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  // HTTP/2: a stream the client resets without an error is closed only once its request has been read to the end.
  response.req.resume()
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    if (!response.write(bytes.subarray(at, at + pieceBytes)) && !(await hasDrained(response))) return
  }
  response.end()
}

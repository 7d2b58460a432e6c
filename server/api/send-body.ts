// Sends the body of a response, in chunks if it is large. Data that a client has not read stays in one buffer, which
// many responses may share, and is neither copied nor encrypted early.

import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { AppError } from '../base/error.ts'
import { hasDrained } from './transport/drained.ts'
import type { UsageCounter } from './transport/usage-counter.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Bytes of large responses that are being sent, by the client's IP address. */
    unsentBytes: UsageCounter
  }
}

/** Responses up to this size are sent whole. */
export const chunkBytes = 64 * 1024

/**
 * The same for one that is counted, a copy of its own for this client, and goes over HTTP/1.1: there the connection
 * takes it as well whole as in chunks, which cost a turn of the loop each. It has to be taken within the time of one
 * chunk.
 */
export const wholeBytes = 128 * 1024

/** Call it after the headers were sent. `bytes` must not change any more. */
export function sendBody(response: ServerResponse, bytes: Uint8Array): void {
  if (bytes.length <= chunkBytes) response.end(bytes)
  else void sendChunks(response, bytes)
}

/**
 * Counts a large response for one client until it is sent. Call it before the headers are sent. Throws 'unavailable'
 * if too much data is waiting for the client's IP address.
 */
export function countUnsent({ raw, request, server }: FastifyReply, bytes: number): void {
  countUnsentOf(server.unsentBytes, request.clientIp, raw, bytes)
}

/** Like `countUnsent`, for a response that does not come from a route. */
export function countUnsentOf(unsent: UsageCounter, clientIp: string, response: ServerResponse, bytes: number): void {
  if (bytes <= chunkBytes) return
  if (!unsent.take(clientIp, bytes)) {
    throw new AppError('unavailable', 'too many responses are waiting to be sent to this address', {
      retryAfterSeconds: 5,
    })
  }
  response.once('close', () => unsent.give(clientIp, bytes))
}

/** Like `sendBody`, for text with one character per byte. */
export function sendText(response: ServerResponse, text: string): void {
  const max = response.req.httpVersionMajor === 1 ? wholeBytes : chunkBytes
  if (text.length <= max) response.end(text, 'latin1')
  else void sendChunks(response, Buffer.from(text, 'latin1'))
}

async function sendChunks(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  // HTTP/2: a stream that the client resets without an error is closed only after its request has been read completely.
  response.req.resume()
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    if (!response.write(bytes.subarray(at, at + chunkBytes)) && !(await hasDrained(response))) return
  }
  response.end()
}

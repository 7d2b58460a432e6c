// Headers of every media response: never cached, and its URL is not sent as a referrer.

import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { openHeaders } from '../answer.ts'
import { countUnsent, sendBody } from '../send-body.ts'

/** nginx would otherwise keep some images or seconds back. */
export const unbuffered = { 'x-accel-buffering': 'no' }

/** Writes status and headers; the caller writes the body. */
export function startMedia(
  reply: FastifyReply,
  status: number,
  type: string,
  headers: Record<string, string | number> = {},
): ServerResponse {
  const { raw } = reply.hijack()
  raw.writeHead(status, {
    ...openHeaders,
    'content-type': type,
    'cache-control': 'private, no-store',
    'referrer-policy': 'no-referrer',
    ...headers,
  })
  return raw
}

/** Sends bytes created for this client. Throws 'unavailable' if too much data waits for its address. */
export function sendBytes(reply: FastifyReply, type: string, bytes: Uint8Array): void {
  countUnsent(reply, bytes.length)
  sendShared(reply, type, bytes)
}

/** Sends bytes that all clients share, which need no memory of their own. */
export function sendShared(reply: FastifyReply, type: string, bytes: Uint8Array): void {
  sendBody(startMedia(reply, 200, type, { 'content-length': bytes.length }), bytes)
}

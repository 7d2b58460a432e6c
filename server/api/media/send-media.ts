// The head of every answer that carries pictures: never kept by anyone, its address given to nobody.

import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { openHeaders } from '../answer.ts'
import { countUnsent, sendBody } from '../send-body.ts'

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

/** Bytes that were made for this client. Throws 'unavailable' when too much waits for its address. */
export function sendBytes(reply: FastifyReply, type: string, bytes: Uint8Array): void {
  countUnsent(reply, bytes.length)
  sendShared(reply, type, bytes)
}

/** Bytes that are here for everybody who asks: they cost no memory of their own. */
export function sendShared(reply: FastifyReply, type: string, bytes: Uint8Array): void {
  sendBody(startMedia(reply, 200, type, { 'content-length': bytes.length }), bytes)
}

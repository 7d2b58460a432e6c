// Responses that are the same for all clients. They are created and compressed once, and all clients share one buffer.

import { createHash } from 'node:crypto'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sendBody } from './send-body.ts'

type Encoding = 'br' | 'gzip'

export type StaticBytes = {
  readonly type: string
  readonly etag: string
  readonly bodies: Readonly<Record<Encoding | 'plain', Uint8Array>>
}

/** Uses less than the best compression, because it runs while the server starts or a client waits. */
export function compress(type: string, plain: Uint8Array): StaticBytes {
  const br = brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
  return createStaticBytes(type, { plain, br, gzip: gzipSync(plain) })
}

export function createStaticBytes(type: string, bodies: StaticBytes['bodies']): StaticBytes {
  const etag = `"${createHash('sha256').update(bodies.plain).digest('base64url').slice(0, 22)}"`
  return { type, etag, bodies }
}

/** Responds with 304 if the client has the content. `headers` are sent besides those that describe the content. */
export function sendStatic(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, etag, bodies }: StaticBytes,
  headers: Readonly<Record<string, string | string[]>>,
): void {
  const encoding = chooseEncoding(request.headers['accept-encoding'])
  const { raw } = reply.hijack()
  const kept = { ...headers, etag, vary: 'accept-encoding' }
  if (isKnown(request.headers['if-none-match'], etag)) {
    raw.writeHead(304, kept).end()
    return
  }
  const bytes = bodies[encoding]
  raw.writeHead(200, {
    ...kept,
    'content-type': type,
    ...(encoding !== 'plain' && { 'content-encoding': encoding }),
    'content-length': bytes.length,
  })
  if (request.method === 'HEAD') raw.end()
  else sendBody(raw, bytes)
}

function chooseEncoding(accepted: string | string[] | undefined): Encoding | 'plain' {
  const names = String(accepted ?? '')
    .split(',')
    .filter((each) => !/;\s*q=0(\.0*)?\s*$/.test(each))
  const has = (encoding: Encoding) => names.some((each) => each.trim().split(';')[0] === encoding)
  return has('br') ? 'br' : has('gzip') ? 'gzip' : 'plain'
}

/** Whether a client that sent `If-None-Match` has the content (RFC 9110 section 13.1.2: weak comparison). */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const known = ifNoneMatch?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? []
  return known.includes(etag) || known.includes('*')
}

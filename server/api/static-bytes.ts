// What is the same for everybody who asks: made once, compressed once, and one buffer however many are sent it.

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

/** Not the best compression there is, because it is made while the server starts or somebody waits. */
export function compress(type: string, plain: Uint8Array): StaticBytes {
  const br = brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
  return createStaticBytes(type, { plain, br, gzip: gzipSync(plain) })
}

export function createStaticBytes(type: string, bodies: StaticBytes['bodies']): StaticBytes {
  const etag = `"${createHash('sha256').update(bodies.plain).digest('base64url').slice(0, 22)}"`
  return { type, etag, bodies }
}

/** 304 where the client has it; `headers`: besides those that say what the bytes are. */
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

/** RFC 9110 section 13.1.2: by weak comparison. */
function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const known = ifNoneMatch?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? []
  return known.includes(etag) || known.includes('*')
}

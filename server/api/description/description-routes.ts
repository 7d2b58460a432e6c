// GET /openapi.json: the description of the interface, for programs. Pages of any origin may read it.

import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { openHeaders, sendEmpty } from '../answer.ts'
import type { OpenApiDocument } from './openapi.ts'

const path = '/openapi.json'

const preflightHeaders = {
  'access-control-allow-methods': 'GET, HEAD, OPTIONS',
  'access-control-allow-headers': 'if-none-match',
  'access-control-max-age': '7200',
}

export function registerDescription(server: FastifyInstance, description: OpenApiDocument): void {
  const bytes = Buffer.from(JSON.stringify(description))
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
  const kept = { ...openHeaders, etag, 'cache-control': 'public, max-age=300' }
  const head = { ...kept, 'content-type': 'application/json', 'content-length': bytes.length }
  server.get(path, (request, reply) => {
    const { raw } = reply.hijack()
    if (isKnown(request.headers['if-none-match'], etag)) raw.writeHead(304, kept).end()
    else raw.writeHead(200, head).end(bytes)
  })
  server.options(path, (_request, reply) => sendEmpty(reply, 204, preflightHeaders))
}

/** RFC 9110 section 13.1.2: by weak comparison. */
function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const known = ifNoneMatch?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? []
  return known.includes(etag) || known.includes('*')
}

// The body of a request as it was sent, with the two headers that say what it is. Nothing is read of it yet, see
// read-json.ts.

import type { FastifyInstance, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    /** As sent; empty when it was not. Never `headers['content-type']`, which is the framework's. */
    contentType: string
  }
}

export type SentBody = {
  /** Undefined or empty when there is none. */
  readonly bytes: Uint8Array | undefined
  readonly contentType: string
  readonly contentEncoding: string
}

/**
 * Takes bodies of any type, also of one that is no type at all: Fastify would refuse those before 401, 404 and 405 have
 * had their turn. It is therefore shown one and the same type always.
 */
export function acceptAnyBody(server: FastifyInstance): void {
  server.decorateRequest('contentType', '')
  server.addHook('onRequest', (request, _reply, done) => {
    const { method, headers } = request.raw
    if (method !== 'GET' && method !== 'HEAD') {
      request.contentType = headers['content-type'] ?? ''
      headers['content-type'] = 'application/octet-stream'
    }
    done()
  })
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes))
}

export function sentBody(request: FastifyRequest): SentBody {
  return {
    bytes: request.body as Uint8Array | undefined,
    contentType: request.contentType,
    contentEncoding: request.headers['content-encoding'] ?? '',
  }
}

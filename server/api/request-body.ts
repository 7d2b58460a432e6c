// The body of a request as it was sent, with the two headers that describe it. It is parsed later; see
// read-json.ts.

import type { FastifyInstance, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    /** The header as sent, or empty if missing. Do not use `headers['content-type']`, which is set for Fastify. */
    contentType: string
  }
}

export type SentBody = {
  /** Undefined or empty if the request has no body. */
  readonly bytes: Uint8Array | undefined
  readonly contentType: string
  readonly contentEncoding: string
}

/**
 * Accepts bodies of any type, even an invalid one, because Fastify would reject them before the checks for 401, 404
 * and 405. Fastify is therefore always given the same type.
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

// The signed token of a media request.

import type { FastifyRequest } from 'fastify'

/**
 * The first one counts: parameters appended to our URL are ignored, whatever their name. A missing token is like an
 * invalid one.
 */
export function tokenOf(request: FastifyRequest): string {
  return new URLSearchParams(request.query as string).get('token') ?? ''
}

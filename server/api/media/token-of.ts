// The signed token of a media request.

import type { FastifyRequest } from 'fastify'

/** The first counts: a parameter added behind a URL we made is ignored, whatever its name. None is as good as a wrong one. */
export function tokenOf(request: FastifyRequest): string {
  return new URLSearchParams(request.query as string).get('token') ?? ''
}

// GET /openapi.json: the API description for programs. Pages of any origin may read it.

import type { FastifyInstance } from 'fastify'
import { openHeaders, sendEmpty } from '../answer.ts'
import { compress, type StaticBytes, sendStatic } from '../static-bytes.ts'
import { createDescription } from './description.ts'

const path = '/openapi.json'

const preflightHeaders = {
  'access-control-allow-methods': 'GET, HEAD, OPTIONS',
  'access-control-allow-headers': '*, authorization',
  'access-control-max-age': '7200',
}

/** `publicUrl`: as for `createDescription`. */
export function registerDescription(server: FastifyInstance, publicUrl: string): void {
  let bytes: StaticBytes | undefined
  const headers = { ...openHeaders, 'cache-control': 'public, max-age=300' }
  server.get(path, (request, reply) => {
    bytes ??= compress('application/json', Buffer.from(JSON.stringify(createDescription(publicUrl))))
    sendStatic(request, reply, bytes, headers)
  })
  server.options(path, (_request, reply) => sendEmpty(reply, 204, preflightHeaders))
}

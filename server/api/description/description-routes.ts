// GET /openapi.json: the API description for programs. Pages of any origin may read it.

import type { FastifyInstance } from 'fastify'
import { openHeaders, sendEmpty } from '../answer.ts'
import { compress, type StaticBytes, sendStatic } from '../static-bytes.ts'
import type { OpenApiDocument } from './openapi.ts'

const path = '/openapi.json'

const preflightHeaders = {
  'access-control-allow-methods': 'GET, HEAD, OPTIONS',
  'access-control-allow-headers': '*, authorization',
  'access-control-max-age': '7200',
}

export function registerDescription(server: FastifyInstance, description: OpenApiDocument): void {
  let bytes: StaticBytes | undefined
  const headers = { ...openHeaders, 'cache-control': 'public, max-age=300' }
  server.get(path, (request, reply) => {
    bytes ??= compress('application/json', Buffer.from(JSON.stringify(description)))
    sendStatic(request, reply, bytes, headers)
  })
  server.options(path, (_request, reply) => sendEmpty(reply, 204, preflightHeaders))
}

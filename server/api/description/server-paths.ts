// Describes health, metrics and the API description itself.

import { FileRepair } from '../../../contract/storage.ts'
import { notModified, type PathItem, type Response } from './openapi.ts'
import { referToRefusal } from './refusals.ts'

const ok: Response = {
  description: 'The server is ready.',
  content: {
    'application/json': {
      schema: {
        type: 'object',
        properties: {
          status: { type: 'string', const: 'ok' },
          repair: {
            ...FileRepair,
            description: 'Present while files are being repaired that were open when the server crashed.',
          },
        },
        required: ['status'],
      },
      example: { status: 'ok' },
    },
  },
}

export const serverPaths: { readonly [path: string]: PathItem } = {
  '/healthz': {
    get: {
      operationId: 'getHealth',
      tags: ['Server'],
      summary: 'Check the health of the server',
      description: 'Extension. For load balancers and supervisors.',
      responses: { 200: ok, 400: referToRefusal(400), 503: referToRefusal(503) },
      security: [],
      'x-nightjar-extension': true,
    },
  },
  '/metrics': {
    get: {
      operationId: 'getMetrics',
      tags: ['Server'],
      summary: 'Get metrics for Prometheus',
      description: 'Extension. Available only from the same machine.',
      responses: {
        200: { description: 'Prometheus’ text format.', content: { 'text/plain': { schema: { type: 'string' } } } },
        403: referToRefusal(403),
      },
      security: [],
      'x-nightjar-extension': true,
    },
  },
  '/openapi.json': {
    get: {
      operationId: 'getDescription',
      tags: ['Server'],
      summary: 'Get this API description',
      description: 'Extension. OpenAPI 3.1.',
      responses: {
        200: {
          description: 'The description.',
          headers: { ETag: { description: 'For `If-None-Match`.', schema: { type: 'string' } } },
          content: { 'application/json': { schema: { type: 'object', additionalProperties: true } } },
        },
        304: notModified,
        421: referToRefusal(421),
      },
      security: [],
      'x-nightjar-extension': true,
    },
  },
}

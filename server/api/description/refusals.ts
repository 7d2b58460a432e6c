// Describes the error responses that operations share, with their headers and examples. Which errors an operation can
// return follows from the contract; http-server.ts, endpoint-routes.ts and problem.ts produce them.

import type { AnyOperationText } from '../../../contract/description/operation-text.ts'
import type { Endpoint } from '../../../contract/endpoint.ts'
import { Problem } from '../../../contract/schema.ts'
import type { Header, MediaType, Reference, Response } from './openapi.ts'
import type { SchemaWriter } from './schemas.ts'

export const refusalNames = {
  400: 'BadRequest',
  401: 'NotAuthenticated',
  403: 'PermissionDenied',
  404: 'NotFound',
  409: 'Conflict',
  413: 'PayloadTooLarge',
  415: 'UnsupportedMediaType',
  416: 'RangeNotSatisfiable',
  421: 'MisdirectedRequest',
  429: 'RateLimited',
  503: 'Unavailable',
} as const

export type RefusalStatus = keyof typeof refusalNames

const header = (description: string, example: string, isRequired = false): Header => ({
  description,
  ...(isRequired && { required: true }),
  schema: { type: 'string', examples: [example] } as Header['schema'],
})

export const headers = {
  RateLimit: header(
    'Number of remaining requests, and seconds until the full quota is available again. Absent if there is no limit.',
    '"default";r=2999;t=1',
  ),
  RateLimitPolicy: header(
    'Number of requests allowed per period, and the period in seconds. Absent if there is no limit.',
    '"default";q=3000;w=60',
  ),
  RetryAfter: header('Number of seconds to wait before the next attempt.', '5', true),
  AuthenticateBearer: header(
    'The authentication scheme and, for an invalid bearer token, the error.',
    'Bearer realm="api"',
    true,
  ),
  AuthenticateScope: header(
    'Lists sufficient scopes if scopes are missing.',
    'Bearer realm="api", error="insufficient_scope", scope="read write"',
  ),
}

const refer = (name: keyof typeof headers): Reference => ({ $ref: `#/components/headers/${name}` })

/** Headers of every response under /v1. */
export const rateHeaders = { RateLimit: refer('RateLimit'), 'RateLimit-Policy': refer('RateLimitPolicy') }

const problem = (status: number, title: string, detail: string, errors?: object) => ({
  status,
  title,
  detail,
  ...(errors && { errors }),
})

type RefusalText = {
  readonly description: string
  readonly examples: { readonly [name: string]: object }
  readonly headers?: { readonly [name: string]: Reference }
}

const refusalTexts: { readonly [Status in RefusalStatus]: RefusalText } = {
  400: {
    description: 'The input is invalid; `errors` lists the reasons for each field.',
    examples: {
      invalid: problem(400, 'invalid', 'limit: A valid integer is required.', {
        limit: ['A valid integer is required.'],
      }),
      parse_error: problem(400, 'parse_error', 'JSON parse error - the body is not valid JSON'),
    },
  },
  401: {
    description: 'The credentials are missing, invalid or expired.',
    examples: { not_authenticated: problem(401, 'not_authenticated', 'Authentication credentials were not provided.') },
    headers: { 'WWW-Authenticate': refer('AuthenticateBearer') },
  },
  403: {
    description: 'The credentials do not permit this request.',
    examples: {
      permission_denied: problem(403, 'permission_denied', 'You do not have permission to perform this action.', {
        scope: ['The token needs the scopes: camera_guest_manage.'],
      }),
    },
    headers: { 'WWW-Authenticate': refer('AuthenticateScope') },
  },
  404: {
    description: 'The resource does not exist or is not visible to the caller.',
    examples: { not_found: problem(404, 'not_found', 'Not found.') },
  },
  409: {
    description: 'The request conflicts with the current state.',
    examples: { conflict: problem(409, 'conflict', 'there is already an account for grace@example.com') },
  },
  413: {
    description: 'The body is larger than 64 KiB.',
    examples: { payload_too_large: problem(413, 'payload_too_large', 'The body of the request is too large.') },
  },
  415: {
    description: 'The body is not `application/json`.',
    examples: {
      unsupported_media_type: problem(415, 'unsupported_media_type', 'Unsupported media type "text/plain" in request.'),
    },
  },
  416: {
    description: 'The range is outside of the file.',
    examples: {
      range_not_satisfiable: problem(416, 'range_not_satisfiable', 'No byte of the file is in this range.'),
    },
  },
  421: {
    description: 'The server is not configured for the host name of the request.',
    examples: {
      misdirected_request: problem(
        421,
        'misdirected_request',
        'This server does not answer under the name it was asked for: whoever runs it can set public-url or allowed-hosts.',
      ),
    },
  },
  429: {
    description: 'Too many requests.',
    examples: {
      rate_limited: problem(429, 'rate_limited', 'Request was throttled. Expected available in 2 seconds.'),
    },
    headers: { 'Retry-After': refer('RetryAfter') },
  },
  503: {
    description: 'Not available at the moment.',
    examples: {
      unavailable: problem(503, 'unavailable', 'This is not available at the moment. Try again later.'),
    },
    headers: { 'Retry-After': refer('RetryAfter') },
  },
}

/** Returns the shared error responses that `paths` refers to. */
export function writeSharedRefusals(paths: object, schemas: SchemaWriter): { [name: string]: Response } {
  const text = JSON.stringify(paths)
  const statuses = (Object.keys(refusalNames).map(Number) as RefusalStatus[]).filter((status) =>
    text.includes(JSON.stringify(referToRefusal(status))),
  )
  return Object.fromEntries(statuses.map((status) => [refusalNames[status], writeRefusal(status, schemas)]))
}

/** `description` replaces the usual text. */
export function writeRefusal(status: RefusalStatus, schemas: SchemaWriter, description?: string): Response {
  const { headers: own, ...common } = refusalTexts[status]
  const examples = Object.entries(common.examples)
  const content: MediaType = {
    schema: schemas.write(Problem),
    ...(examples.length === 1
      ? { example: examples[0]![1] }
      : { examples: Object.fromEntries(examples.map(([name, value]) => [name, { summary: name, value }])) }),
  }
  return {
    description: description ?? common.description,
    headers: { ...own, ...rateHeaders },
    content: { 'application/json': content },
  }
}

export const referToRefusal = (status: RefusalStatus): Reference => ({
  $ref: `#/components/responses/${refusalNames[status]}`,
})

/** Lists the error statuses that an operation under /v1 may return. */
export function listRefusals(
  { method, params, query, body }: Endpoint,
  { refusals = {} }: AnyOperationText,
): RefusalStatus[] {
  const statuses = new Set<number>([401, 403, 429, 503, ...Object.keys(refusals).map(Number)])
  if (query || body) statuses.add(400)
  if (params) statuses.add(404)
  if (method !== 'GET') statuses.add(413)
  if (body) statuses.add(415)
  return [...statuses].sort((a, b) => a - b) as RefusalStatus[]
}

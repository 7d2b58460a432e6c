// Writes answers to the connection. Answers under /v1 are strings of JSON by then; written straight to Node's response, because
// Fastify's reply would append a charset to the type (the interface says exactly `application/json`) and costs a fifth of a core.

import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { RateState } from '../auth/guard/rate-limiter.ts'
import type { Problem } from './problem.ts'
import { writeProblem } from './problem.ts'
import { countUnsent, pieceBytes, sendBody } from './send-body.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What its answer says about the limit of requests; null where there is none. */
    rate: RateState | null
  }
}

/** On every answer over TLS (RFC 6797). */
export const transportHeaders = { 'strict-transport-security': 'max-age=31536000' } as const

/**
 * On everything: no cookie is ever accepted here, so any page may ask. Answers hold addresses that open by themselves, so that none is kept
 * where somebody else may find it.
 */
export const openHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'content-range, ratelimit, ratelimit-policy, retry-after, www-authenticate',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  ...transportHeaders,
} as const

const jsonHeaders = { 'content-type': 'application/json', ...openHeaders } as const

export function sendJson(reply: FastifyReply, status: number, json: string): void {
  const { rate } = reply.request
  const bytes = Buffer.byteLength(json)
  if (bytes > pieceBytes) countUnsent(reply, bytes)
  const { raw } = reply.hijack()
  raw.writeHead(status, rate === null ? createJsonHead(bytes) : createCountedJsonHead(bytes, rate))
  if (bytes > pieceBytes) sendBody(raw, Buffer.from(json))
  else raw.end(json)
}

// The most frequent heads, spelled out: objects that are spread together cost four times as much to make and to read.

function createJsonHead(bytes: number) {
  return {
    'content-type': 'application/json',
    'access-control-allow-origin': openHeaders['access-control-allow-origin'],
    'access-control-expose-headers': openHeaders['access-control-expose-headers'],
    'cache-control': openHeaders['cache-control'],
    'x-content-type-options': openHeaders['x-content-type-options'],
    'strict-transport-security': openHeaders['strict-transport-security'],
    'content-length': bytes,
  }
}

function createCountedJsonHead(bytes: number, { limit, windowSeconds, remaining, resetSeconds }: RateState) {
  return {
    'content-type': 'application/json',
    'access-control-allow-origin': openHeaders['access-control-allow-origin'],
    'access-control-expose-headers': openHeaders['access-control-expose-headers'],
    'cache-control': openHeaders['cache-control'],
    'x-content-type-options': openHeaders['x-content-type-options'],
    'strict-transport-security': openHeaders['strict-transport-security'],
    'ratelimit-policy': `"default";q=${limit};w=${windowSeconds}`,
    ratelimit: `"default";r=${remaining};t=${resetSeconds}`,
    'content-length': bytes,
  }
}

export function sendEmpty(reply: FastifyReply, status: number, headers: Record<string, string> = {}): void {
  const { rate } = reply.request
  const { raw } = reply.hijack()
  raw.writeHead(status, { ...openHeaders, ...headers, ...(rate && writeRate(rate)) })
  raw.end()
}

export function sendProblem(reply: FastifyReply, problem: Problem): void {
  writeProblemTo(reply.hijack().raw, problem, reply.request.rate)
}

export function writeProblemTo(response: ServerResponse, problem: Problem, rate?: RateState | null): void {
  if (response.headersSent) {
    response.destroy() // the status is out already: breaking off is the only way left to say so
    return
  }
  const json = writeProblem(problem)
  response.writeHead(problem.status, {
    ...jsonHeaders,
    ...(rate && writeRate(rate)),
    ...problem.headers,
    'content-length': Buffer.byteLength(json),
  })
  response.end(json)
}

/** draft-ietf-httpapi-ratelimit-headers-10. */
export function writeRate({ limit, windowSeconds, remaining, resetSeconds }: RateState) {
  return {
    'ratelimit-policy': `"default";q=${limit};w=${windowSeconds}`,
    ratelimit: `"default";r=${remaining};t=${resetSeconds}`,
  }
}

// Writes responses to the connection. Responses under /v1 are JSON strings by then. They are written directly to Node's
// response, because Fastify's reply would append a charset to the type: the interface requires exactly
// `application/json`. For what Fastify is used, see docs/design/api.md.

import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { RateState } from '../base/rate-limiter.ts'
import type { Problem } from './problem.ts'
import { writeProblem } from './problem.ts'
import { countUnsent, sendText } from './send-body.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The rate limit state for the response headers; null if there is no limit. */
    rate: RateState | null
  }
}

/**
 * Sent with every response. Any origin may call, because no cookie is accepted here. Responses contain URLs that need
 * no other credentials, so they must not be cached where somebody else may find them.
 */
export const openHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'content-range, etag, ratelimit, ratelimit-policy, retry-after, www-authenticate',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const

const jsonHeaders = { 'content-type': 'application/json', ...openHeaders } as const

declare const encoded: unique symbol

/** JSON with one character per byte of its UTF-8 encoding: its length is known without encoding it. */
export type EncodedJson = string & { readonly [encoded]: true }

export function encodeJson(json: string): EncodedJson {
  const isAscii = Buffer.byteLength(json) === json.length
  return (isAscii ? json : Buffer.from(json).toString('latin1')) as EncodedJson
}

/** Throws 'unavailable' if too much data waits for the client's address. */
export function sendJson(reply: FastifyReply, status: number, json: string): void {
  sendEncoded(reply, status, encodeJson(json))
}

/** Like `sendJson`. */
export function sendEncoded(reply: FastifyReply, status: number, json: EncodedJson): void {
  countUnsent(reply, json.length)
  writeEncoded(reply.hijack().raw, status, json, reply.request.rate)
}

/** Large responses have been counted before, see `countUnsentOf`. */
export function writeEncoded(
  response: ServerResponse,
  status: number,
  json: EncodedJson,
  rate: RateState | null,
): void {
  response.writeHead(status, createJsonHead(json.length, rate))
  sendText(response, json)
}

/**
 * The most frequent headers as alternating names and values. Node copies and reads objects several times slower,
 * because it looks up each name, in objects of different shapes.
 */
const fixedHead: readonly string[] = Object.entries(jsonHeaders).flat()

function createJsonHead(bytes: number, rate: RateState | null): (string | number)[] {
  const head = [...fixedHead, 'content-length', bytes]
  if (rate !== null) head.push('ratelimit-policy', writePolicy(rate), 'ratelimit', writeRemaining(rate))
  return head
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
export function writeRate(rate: RateState) {
  return { 'ratelimit-policy': writePolicy(rate), ratelimit: writeRemaining(rate) }
}

const writePolicy = ({ limit, windowSeconds }: RateState) => `"default";q=${limit};w=${windowSeconds}`
const writeRemaining = ({ remaining, resetSeconds }: RateState) => `"default";r=${remaining};t=${resetSeconds}`

// Writes answers to the connection. Answers under /v1 are strings of JSON by then; written straight to Node's response, because
// Fastify's reply would append a charset to the type (the interface says exactly `application/json`) and costs a fifth of a core.

import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { Problem } from './problem.ts'
import { writeProblem } from './problem.ts'

/** On every answer over TLS (RFC 6797). */
export const transportHeaders = { 'strict-transport-security': 'max-age=31536000' } as const

/** On everything: no cookie is ever accepted here, so any page may ask. */
export const openHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'content-range, retry-after',
  ...transportHeaders,
} as const

const jsonHeaders = { 'content-type': 'application/json', ...openHeaders } as const

export function sendJson(reply: FastifyReply, status: number, json: string): void {
  const { raw } = reply.hijack()
  raw.writeHead(status, { ...jsonHeaders, 'content-length': Buffer.byteLength(json) })
  raw.end(json)
}

export function sendEmpty(reply: FastifyReply, status: number, headers: Record<string, string> = {}): void {
  const { raw } = reply.hijack()
  raw.writeHead(status, { ...openHeaders, ...headers })
  raw.end()
}

export function sendProblem(reply: FastifyReply, problem: Problem): void {
  writeProblemTo(reply.hijack().raw, problem)
}

export function writeProblemTo(response: ServerResponse, problem: Problem): void {
  if (response.headersSent) {
    response.destroy() // the status is out already: breaking off is the only way left to say so
    return
  }
  const json = writeProblem(problem)
  response.writeHead(problem.status, { ...jsonHeaders, ...problem.headers, 'content-length': Buffer.byteLength(json) })
  response.end(json)
}

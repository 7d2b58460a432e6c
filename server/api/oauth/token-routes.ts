// POST /oauth/token/ and POST /oauth/token-revoke/ (RFC 6749 section 3.2, RFC 7009). Errors have the OAuth format, not
// that of /v1.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { addressBlock } from '../../auth/guard/address-block.ts'
import type { RateLimits } from '../../auth/guard/rate-limits.ts'
import type { OAuth } from '../../auth/oauth/oauth.ts'
import type { TokenAnswer, TokenInput } from '../../auth/oauth/oauth-types.ts'
import { answerBug, answerError, answerFailure, answerProblem } from '../../auth/oauth/token-answer.ts'
import { errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import { RateLimitError } from '../../base/rate-limiter.ts'
import { openHeaders, sendEmpty, sendProblem, writeRate } from '../answer.ts'
import { HttpError, toProblem } from '../problem.ts'
import { FairScheduler } from '../transport/fair-scheduler.ts'
import { contextOf } from '../transport/request-origin.ts'
import { maxFormBytes, readForm } from './token-form.ts'

export type TokenRoutesOptions = {
  readonly oauth: Pick<OAuth, 'tokens'>
  readonly limits: RateLimits
  readonly log: Logger
}

/** Each request takes a few queries. Many sign-ins at once must not delay other requests. */
const requestsPerTurn = 4

type Answer = (input: TokenInput) => Promise<TokenAnswer>

const allowed = 'POST, OPTIONS'

const preflightHeaders = {
  'access-control-allow-methods': allowed,
  'access-control-allow-headers': '*, authorization',
  'access-control-max-age': '7200',
}

export function registerTokenRoutes(server: FastifyInstance, { oauth, ...options }: TokenRoutesOptions): void {
  register(server, '/oauth/token', (input) => oauth.tokens.token(input), options)
  register(server, '/oauth/token-revoke', (input) => oauth.tokens.revoke(input), options)
}

/** Uses a separate scope, because bodies are parsed as bytes and errors have a different format. */
function register(
  server: FastifyInstance,
  prefix: string,
  answer: Answer,
  { limits, log }: Omit<TokenRoutesOptions, 'oauth'>,
): void {
  const turns = new FairScheduler({ perTurn: requestsPerTurn })
  const define = async (scope: FastifyInstance) => {
    scope.removeAllContentTypeParsers()
    const parser = { parseAs: 'buffer', bodyLimit: maxFormBytes } as const
    scope.addContentTypeParser('*', parser, (_request, body, done) => done(null, body))
    scope.setErrorHandler((error, request, reply) => {
      if (error instanceof RateLimitError) request.rate = error.rate
      if (error instanceof HttpError) return send(reply, answerProblem(error.problem))
      send(reply, answerFailure(error) ?? answerUnexpectedError(error, prefix, log))
    })
    scope.setNotFoundHandler((request, reply) => {
      if (request.url.split('?', 1)[0]!.replace(/\/$/, '') === prefix) sendEmpty(reply, 405, { allow: allowed })
      else sendProblem(reply, toProblem(new HttpError(404, 'not_found', 'Not found.')))
    })
    scope.options('/', (_request, reply) => sendEmpty(reply, 204, preflightHeaders))
    scope.route({
      method: 'POST',
      url: '/',
      onRequest: async (request) => {
        request.rate = limits.takeToken(request.clientIp) ?? null
        await new Promise<void>((resolve) => turns.take(addressBlock(request.clientIp), resolve))
      },
      handler: async (request, reply) => send(reply, await answer(await readInput(request))),
    })
  }
  server.register(define, { prefix })
}

async function readInput(request: FastifyRequest): Promise<TokenInput> {
  const { headers } = request
  const idempotencyKey = headers['idempotency-key']
  return {
    form: await readForm(request.body as Buffer | undefined, request.contentType),
    authorization: headers.authorization,
    context: contextOf(request),
    idempotencyKey: typeof idempotencyKey === 'string' ? idempotencyKey : idempotencyKey?.join(', '),
  }
}

/**
 * Errors that Fastify reports itself, such as bodies that are too long or incomplete, are client errors. All others are
 * server errors.
 */
function answerUnexpectedError(error: unknown, path: string, log: Logger): TokenAnswer {
  const status = (error as { statusCode?: unknown } | null)?.statusCode
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return answerError('invalid_request', status === 413 ? 'The request is too large.' : 'The request cannot be read.')
  }
  log.error({ path, reason: errorChain(error) }, 'a request failed')
  return answerBug()
}

/** Writes to Node's response, because Fastify's reply would append a charset to the content type. */
function send(reply: FastifyReply, { status, headers, body }: TokenAnswer): void {
  const { rate } = reply.request
  const { raw } = reply.hijack()
  raw.writeHead(status, {
    ...openHeaders,
    ...headers,
    ...(rate && writeRate(rate)),
    'content-length': Buffer.byteLength(body),
  })
  raw.end(body)
}

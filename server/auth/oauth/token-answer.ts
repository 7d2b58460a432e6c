// The responses of the token and revocation endpoints (RFC 6749 sections 5.1 and 5.2).

import { AppError } from '../../base/error.ts'
import { OAuthError, type OAuthErrorCode } from '../../model/oauth/oauth-error.ts'
import type { TokenAnswer } from './oauth-types.ts'

/** Responses with tokens must not be cached. The second header is for HTTP/1.0 caches. */
const headers = { 'cache-control': 'no-store', pragma: 'no-cache' } as const
const jsonHeaders = { ...headers, 'content-type': 'application/json' } as const

export type IssuedPair = {
  readonly accessToken: string
  readonly refreshToken: string
  readonly expiresInSeconds: number
  readonly scopes: readonly string[]
}

type ProblemOfRequest = Pick<TokenAnswer, 'status' | 'headers'> & { readonly detail: string }

/** The body of a successful response. */
export function writePair({ accessToken, refreshToken, expiresInSeconds, scopes }: IssuedPair): string {
  return JSON.stringify({
    access_token: accessToken,
    expires_in: expiresInSeconds,
    token_type: 'Bearer',
    scope: scopes.join(' '),
    refresh_token: refreshToken,
  })
}

export function answerJson(body: string): TokenAnswer {
  return { status: 200, headers: jsonHeaders, body }
}

export function answerEmpty(): TokenAnswer {
  return { status: 200, headers, body: '' }
}

export function answerError(error: OAuthErrorCode, description?: string): TokenAnswer {
  const body = JSON.stringify({ error, error_description: description })
  if (error !== 'invalid_client') return { status: 400, headers: jsonHeaders, body }
  return { status: 401, headers: { ...jsonHeaders, 'www-authenticate': 'Bearer error="invalid_client"' }, body }
}

/** Returns undefined for errors of the server. RFC 6749 has no codes for the last two. */
export function answerFailure(error: unknown): TokenAnswer | undefined {
  if (error instanceof OAuthError) return answerError(error.code, error.description)
  if (!(error instanceof AppError)) return undefined
  const { retryAfterSeconds } = error
  if (error.kind === 'rate_limited') {
    const seconds = retryAfterSeconds ?? 60
    const description = `Request was throttled. Expected available in ${seconds} second${seconds === 1 ? '' : 's'}.`
    return answerLater(429, seconds, { error: 'rate_limited', error_description: description })
  }
  if (error.kind === 'unavailable')
    return answerLater(503, retryAfterSeconds ?? 5, { error: 'temporarily_unavailable' })
  return undefined
}

/** What is wrong with the request itself, such as its host or an unencrypted connection. */
export function answerProblem({ status, detail, headers }: ProblemOfRequest): TokenAnswer {
  const { body } = answerError('invalid_request', detail)
  return { status, headers: { ...jsonHeaders, ...headers }, body }
}

/** Does not reveal the cause. */
export function answerBug(): TokenAnswer {
  return { status: 500, headers: jsonHeaders, body: '{"error":"server_error"}' }
}

function answerLater(status: number, seconds: number, body: object): TokenAnswer {
  return { status, headers: { ...jsonHeaders, 'retry-after': String(seconds) }, body: JSON.stringify(body) }
}

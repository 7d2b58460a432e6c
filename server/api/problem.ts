// Errors as clients see them: a table from kinds of error to status, title and detail, and the headers of the response.
// The cause of a 5xx is not revealed.

import { UnauthenticatedError } from '../auth/caller.ts'
import { AppError, type ErrorKind, type FieldErrors } from '../base/error.ts'
import { writeFieldErrors } from './field-errors.ts'

export type Problem = {
  readonly status: number
  readonly title: string
  readonly detail: string
  readonly errors?: FieldErrors
  readonly headers: { readonly [name: string]: string }
}

/** An error of HTTP itself, which only the API layer throws. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly problem: Problem

  constructor(
    status: number,
    title: string,
    detail: string,
    headers: Problem['headers'] = {},
    errors?: Problem['errors'],
  ) {
    super(detail)
    this.problem = { status, title, detail, headers, ...(errors && { errors }) }
  }
}

/** If `detail` is undefined, the message of the error is used, which is written for people. */
const kinds = {
  invalid: [400, 'invalid', undefined],
  unauthenticated: [401, 'not_authenticated', 'Authentication credentials were not provided.'],
  forbidden: [403, 'permission_denied', 'You do not have permission to perform this action.'],
  not_found: [404, 'not_found', 'Not found.'],
  conflict: [409, 'conflict', undefined],
  rate_limited: [429, 'rate_limited', 'Request was throttled.'],
  unavailable: [503, 'unavailable', 'This is not available at the moment. Try again later.'],
  corrupt: [500, 'internal_error', 'The server could not answer.'],
  internal: [500, 'internal_error', 'The server could not answer.'],
} as const satisfies Record<ErrorKind, readonly [number, string, string | undefined]>

export const methodNotAllowed = (method: string, allowed: readonly string[]) =>
  new HttpError(405, 'method_not_allowed', `Method "${method}" not allowed.`, { allow: allowed.join(', ') })

/** A method that no path has: what a single path allows is not looked up for it. */
export const unknownMethod = (method: string) =>
  methodNotAllowed(method, ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])

/** `mediaType` empty: none was named. */
export const unsupportedMediaType = (mediaType: string) =>
  new HttpError(
    415,
    'unsupported_media_type',
    mediaType === ''
      ? 'The Content-Type of the request is missing: send application/json.'
      : `Unsupported media type "${mediaType}" in request.`,
  )

/** RFC 9110 section 15.5.16. */
export const unsupportedEncoding = (encoding: string) =>
  new HttpError(
    415,
    'unsupported_media_type',
    `Unsupported content encoding "${encoding}" in request: send the body as it is.`,
    { 'accept-encoding': 'identity' },
  )

export const parseError = (reason: string) => new HttpError(400, 'parse_error', `JSON parse error - ${reason}`)

/** RFC 6750 section 3.1. */
export function insufficientScope(required: readonly string[]): HttpError {
  const scope = required.join(' ')
  const headers = { 'www-authenticate': `Bearer realm="api", error="insufficient_scope", scope="${scope}"` }
  return new HttpError(...kinds.forbidden, headers, { scope: [`The token needs the scopes: ${scope}.`] })
}

/** Never throws. Errors of unknown origin are reported as errors of the server. */
export function toProblem(error: unknown): Problem {
  if (error instanceof HttpError) return error.problem
  if (!(error instanceof AppError)) return fromFramework(error)
  const [status, title, message = error.message] = kinds[error.kind]
  const headers: Record<string, string> = {}
  if (status === 401) headers['www-authenticate'] = challenge(error)
  const seconds = findRetrySeconds(error)
  if (seconds !== undefined) headers['retry-after'] = String(seconds)
  const isExpected = status === 429 && seconds !== undefined
  // The text of a handler may not name the field, but clients that show only the text need its name.
  const text = error.kind === 'invalid' && hasFields(error) ? writeFieldErrors(error.fields) : message
  return {
    status,
    title,
    detail: isExpected ? `${text} Expected available in ${seconds} second${seconds === 1 ? '' : 's'}.` : text,
    ...(error.kind === 'invalid' && { errors: error.fields ?? {} }),
    ...(sentTokenOf(error) && { errors: { authorization: [badToken] } }),
    headers,
  }
}

/** Returns whole seconds. If something is unavailable, suggests when to retry. */
function findRetrySeconds({ kind, retryAfterSeconds }: AppError): number | undefined {
  if (retryAfterSeconds !== undefined) return Math.ceil(retryAfterSeconds)
  return kind === 'unavailable' ? 5 : undefined
}

function hasFields(error: AppError): error is AppError & { fields: FieldErrors } {
  return error.fields !== undefined && Object.keys(error.fields).length > 0
}

/** Returns the body of a problem, with its keys in the documented order. */
export function writeProblem({ status, title, detail, errors }: Problem): string {
  return JSON.stringify({ status, title, detail, errors })
}

/** The same for every cause. */
const badToken = 'The token that was sent is invalid, expired or revoked.'

function sentTokenOf(error: AppError): UnauthenticatedError['sentToken'] {
  return error instanceof UnauthenticatedError ? error.sentToken : undefined
}

/** RFC 6750 section 3: the response names an invalid bearer token as the cause. */
function challenge(error: AppError): string {
  return sentTokenOf(error) === 'bearer'
    ? 'Bearer realm="api", error="invalid_token", error_description="The access token is invalid."'
    : 'Bearer realm="api"'
}

/** Errors of Fastify itself: bodies that are too long, incomplete or without a valid type. Other errors are bugs. */
function fromFramework(error: unknown): Problem {
  const status = (error as { statusCode?: unknown } | null)?.statusCode
  if (status === 413) {
    return { status, title: 'payload_too_large', detail: 'The body of the request is too large.', headers: {} }
  }
  if (status === 415) {
    return { status, title: 'unsupported_media_type', detail: 'Unsupported media type in request.', headers: {} }
  }
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return { status: 400, title: 'parse_error', detail: 'The request could not be read.', headers: {} }
  }
  const [, title, detail] = kinds.internal
  return { status: 500, title, detail, headers: {} }
}

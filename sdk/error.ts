// The one error of the SDK: what a server refused, and what never reached one.

import type { FieldErrors, Problem } from './generated/objects.ts'

export type NightjarErrorFields = Omit<Problem, 'errors'> & {
  readonly errors?: FieldErrors | undefined
  readonly retryAfterSeconds?: number | undefined
  readonly cause?: unknown
}

/**
 * Thrown by every call that fails, but for calls the program itself has aborted: those reject with the reason of its signal, as
 * `fetch` does.
 */
export class NightjarError extends Error {
  override readonly name = 'NightjarError'
  /** The HTTP status; 0 when there was no answer. */
  readonly status: number
  /**
   * Short identifier, for programs: the server's (`not_found`, `invalid`, `rate_limited`, …; of OAuth `invalid_grant` and so on), or one
   * of the SDK's: `network_error`, `timeout`, `invalid_answer`, `session_ended`, `sign_in_failed`.
   */
  readonly title: string
  /** For people. */
  readonly detail: string
  /** On 400: reasons per field, `{field: ["reason", …]}`; nested as the request is. */
  readonly errors: FieldErrors | undefined
  /** When the server said how long to wait. */
  readonly retryAfterSeconds: number | undefined

  constructor({ status, title, detail, errors, retryAfterSeconds, cause }: NightjarErrorFields) {
    super(detail, cause === undefined ? undefined : { cause })
    this.status = status
    this.title = title
    this.detail = detail
    this.errors = errors
    this.retryAfterSeconds = retryAfterSeconds
  }
}

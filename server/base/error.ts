// The error type of the server. `kind` decides what the caller does; `message` is for people.

export type ErrorKind =
  | 'invalid' //         the caller's fault: fix the request, do not retry
  | 'unauthenticated' // no or bad credentials
  | 'forbidden' //       known caller, not allowed
  | 'not_found' //       absent, or hidden from this caller
  | 'conflict' //        true before, not now: reload and decide again
  | 'rate_limited' //    too many requests: wait, then retry
  | 'unavailable' //     a camera, disk or peer is down: retry later
  | 'corrupt' //         bytes from a camera or disk that break their format
  | 'internal' //        our bug

/** Errors by field of a request, nested like the request. */
export type FieldErrors = { readonly [field: string]: readonly string[] | FieldErrors }

export class AppError extends Error {
  override readonly name = 'AppError'
  readonly kind: ErrorKind
  /** Set for 'invalid' if single fields are wrong. */
  readonly fields: FieldErrors | undefined
  /** Set for 'rate_limited' and 'unavailable' if it is known when to retry. */
  readonly retryAfterSeconds: number | undefined
  /** Key of the translated message, for errors that users see in their own language. */
  readonly fault: string | undefined

  /** `message`: what was expected, what was found, and where. It is logged, so it must not contain secrets. */
  constructor(
    kind: ErrorKind,
    message: string,
    options: { cause?: unknown; fields?: FieldErrors; retryAfterSeconds?: number; fault?: string | undefined } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.kind = kind
    this.fields = options.fields
    this.retryAfterSeconds = options.retryAfterSeconds
    this.fault = options.fault
  }
}

/** Message and causes on one line: "recording stopped: write /rec/7/a.mp4: ENOSPC". */
export function errorChain(error: unknown): string {
  const messages: string[] = []
  for (let e = error; e !== undefined && e !== null; e = e instanceof Error ? e.cause : undefined) {
    messages.push(e instanceof Error ? e.message : String(e))
  }
  // If a message ends with a period, remove it before the cause.
  return messages.map((message, i) => (i < messages.length - 1 ? message.replace(/\.$/, '') : message)).join(': ')
}

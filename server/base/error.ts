// The one error type of the service. `kind` decides what the caller does; `message` tells a person.

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

/** What is wrong with each field of a request: reasons in words, nested as the request is. */
export type FieldErrors = { readonly [field: string]: readonly string[] | FieldErrors }

export class AppError extends Error {
  override readonly name = 'AppError'
  readonly kind: ErrorKind
  /** Set on 'invalid' when single fields are to blame. */
  readonly fields: FieldErrors | undefined
  /** Set on 'rate_limited' and 'unavailable' when it is known when to try again. */
  readonly retryAfterSeconds: number | undefined
  /** Set where people are told of it in their own language: which sentence it is. */
  readonly fault: string | undefined

  /** `message`: what was expected, what was found, where. No secrets: it is logged. */
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
  // A message may be a sentence; what follows it here is its cause.
  return messages.map((message, i) => (i < messages.length - 1 ? message.replace(/\.$/, '') : message)).join(': ')
}

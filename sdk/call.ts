// One operation of the interface, by its name: its address, its credentials, and what is tried again.

import type { Auth } from './auth.ts'
import type { NightjarError } from './error.ts'
import { type OperationName, type Operations, operations } from './generated/operations.ts'
import { type Http, readError, readJson } from './http.ts'
import { pause, waitFor } from './wait.ts'

export type CallOptions = {
  /** Ends the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Instead of the client's. */
  readonly timeoutMs?: number | undefined
}

export type Input<Name extends OperationName> = Omit<Operations[Name], 'result'>
export type Result<Name extends OperationName> = Operations[Name]['result']
export type Query<Name extends OperationName> = Operations[Name] extends { query?: infer Q } ? NonNullable<Q> : never
export type Body<Name extends OperationName> = Operations[Name] extends { body: infer B } ? B : never

export type Call = <Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  options?: CallOptions,
) => Promise<Result<Name>>

/** What is asked again when the server says `Retry-After`: anything after 429, what changes nothing twice after 503. */
export type RetryOptions = {
  /** So many more times. */
  readonly times: number
  /** An answer that asks for a longer wait is an error at once; 30 when missing. */
  readonly maxWaitSeconds?: number | undefined
}

export type CallSetup = {
  readonly http: Http
  readonly auth?: Auth | undefined
  readonly retry?: RetryOptions | undefined
}

type Parts = {
  readonly params?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

export function createCall({ http, auth, retry }: CallSetup): Call {
  return async <Name extends OperationName>(name: Name, input: Input<Name>, options: CallOptions = {}) => {
    const { method, path } = operations[name]
    const { params = {}, query = {}, body } = input as Parts
    const request = {
      method,
      path: writePath(path, params) + writeQuery(query),
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...options,
    }
    let repeats = 0
    let isRenewed = false
    while (true) {
      const authorization = auth?.authorization()
      const headers = {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(authorization !== undefined && { authorization }),
      }
      const answer = await http.send({ ...request, headers })
      if (answer.status === 204) return undefined as Result<Name>
      if (answer.status >= 200 && answer.status < 300) return readJson(answer) as Result<Name>
      if (answer.status === 401 && authorization !== undefined && auth?.renew && !isRenewed) {
        isRenewed = true
        await waitFor(auth.renew(authorization), options.signal)
        continue
      }
      const error = readError(answer)
      const waitSeconds = repeats < (retry?.times ?? 0) ? findWaitSeconds(method, error, retry) : undefined
      if (waitSeconds === undefined) throw error
      repeats++
      await pause(waitSeconds * 1000, options.signal)
    }
  }
}

/** Undefined: not to be asked again. */
function findWaitSeconds(method: string, error: NightjarError, retry: RetryOptions | undefined): number | undefined {
  const { status, retryAfterSeconds } = error
  const isRepeatable = status === 429 || (status === 503 && method !== 'POST')
  if (!isRepeatable || retryAfterSeconds === undefined) return undefined
  return retryAfterSeconds <= (retry?.maxWaitSeconds ?? 30) ? retryAfterSeconds : undefined
}

function writePath(path: string, params: Readonly<Record<string, string | number>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name]!))
}

function writeQuery(query: Readonly<Record<string, unknown>>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue
    search.append(name, value instanceof Date ? value.toISOString() : String(value))
  }
  const text = search.toString()
  return text === '' ? '' : `?${text}`
}

// One request over `fetch`: its deadline, its answer whole as text, and what is wrong with either as the SDK's error.

import { NightjarError } from './error.ts'
import type { FieldErrors } from './generated/objects.ts'

export type Fetch = typeof globalThis.fetch

export type HttpOptions = {
  /** Where the server is, for instance `https://localhost:8443`. */
  readonly baseUrl: string
  /** Instead of the global one. */
  readonly fetch?: Fetch | undefined
  /** Longest time for one request with its answer; 30 s when missing. */
  readonly timeoutMs?: number | undefined
}

export type HttpRequest = {
  readonly method: string
  /** Below the base URL, or absolute. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal?: AbortSignal | undefined
  /** Instead of the client's. */
  readonly timeoutMs?: number | undefined
}

export type HttpAnswer = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** A timer that is set for longer rings at once. */
const maxTimerMs = 2 ** 31 - 1

export class Http {
  readonly #baseUrl: string
  readonly #fetch: Fetch
  readonly #timeoutMs: number

  constructor({ baseUrl, fetch, timeoutMs = 30_000 }: HttpOptions) {
    this.#baseUrl = checkBaseUrl(baseUrl)
    this.#fetch = fetch ?? ((input, init) => globalThis.fetch(input, init))
    this.#timeoutMs = timeoutMs
  }

  resolve(path: string): string {
    return path.startsWith('/') ? this.#baseUrl + path : path
  }

  /** Any answer with a status; throws when there was none. */
  async send({ method, path, headers, body, signal, timeoutMs }: HttpRequest): Promise<HttpAnswer> {
    signal?.throwIfAborted()
    const controller = new AbortController()
    const abort = () => controller.abort(signal?.reason)
    signal?.addEventListener('abort', abort)
    const limitMs = Math.min(timeoutMs ?? this.#timeoutMs, maxTimerMs)
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      controller.abort()
    }, limitMs)
    try {
      const response = await this.#fetch(this.resolve(path), {
        method,
        ...(headers && { headers }),
        ...(body !== undefined && { body }),
        signal: controller.signal,
        // Neither cookies nor redirects belong to the interface; an Authorization must not follow one.
        credentials: 'omit',
        redirect: 'error',
        cache: 'no-store',
      })
      return { status: response.status, headers: response.headers, text: await response.text() }
    } catch (cause) {
      signal?.throwIfAborted()
      const seconds = limitMs / 1000
      throw isLate
        ? new NightjarError({ status: 0, title: 'timeout', detail: `No answer within ${seconds} seconds.`, cause })
        : new NightjarError({ status: 0, title: 'network_error', detail: 'The server could not be reached.', cause })
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
  }
}

/** Without a slash at its end. Credentials are not sent in the clear, but to this machine itself. */
function checkBaseUrl(text: string): string {
  const { protocol, hostname, origin, pathname } = new URL(text)
  const isLocal = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
  if (protocol !== 'https:' && !(protocol === 'http:' && isLocal)) {
    throw new TypeError(`baseUrl: expected https://…, got ${protocol}//${hostname}`)
  }
  return (origin + pathname).replace(/\/+$/, '')
}

/** Throws 'invalid_answer' when it is no JSON. */
export function readJson({ status, text }: HttpAnswer): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new NightjarError({ status, title: 'invalid_answer', detail: 'The answer of the server is no JSON.', cause })
  }
}

/** Of any answer that is no success: the server's words where it has some, in the form of the interface or of OAuth. */
export function readError(answer: HttpAnswer): NightjarError {
  const { status, headers } = answer
  const said = readFields(answer)
  const word = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
  const title = word(said.title) ?? word(said.error) ?? `http_${status}`
  return new NightjarError({
    status,
    title,
    detail: word(said.detail) ?? word(said.error_description) ?? `The server answered ${status} (${title}).`,
    errors: typeof said.errors === 'object' && said.errors !== null ? (said.errors as FieldErrors) : undefined,
    retryAfterSeconds: readRetryAfter(headers.get('retry-after')),
  })
}

function readFields({ text }: HttpAnswer): Record<string, unknown> {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {} // a proxy's page, or nothing at all
  }
}

/** Seconds, or a date as proxies write it. */
function readRetryAfter(value: string | null): number | undefined {
  if (value === null || value.trim() === '') return undefined
  const seconds = /^\d+$/.test(value.trim()) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds))
}

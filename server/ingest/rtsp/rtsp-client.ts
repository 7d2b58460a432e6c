// Requests to one camera: authentication, the session id, time limits. The order of requests is rtsp-session.ts.

import type { Clock } from '../../base/clock.ts'
import { withDeadline } from '../../base/deadline.ts'
import { findHeader, listHeaders, type RtspHeader, type RtspResponse } from '../../media/rtsp/message.ts'
import { parseSessionHeader, type RtspSession } from '../../media/rtsp/transport.ts'
import { CameraLogin, type Credentials } from '../network/camera-auth.ts'
import { CameraError, describeStatus } from '../network/camera-error.ts'
import type { RtspConnection } from './rtsp-connection.ts'

export type RtspClientOptions = {
  readonly connection: RtspConnection
  readonly credentials: Credentials | undefined
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly responseTimeoutMs: number
}

/** When nothing came for so long, a description that announced more than it has is taken as it is. */
const incompleteAfterMs = 2000

export class RtspClient {
  readonly #options: RtspClientOptions
  readonly #login: CameraLogin
  #session: RtspSession | undefined

  constructor(options: RtspClientOptions) {
    this.#options = options
    this.#login = new CameraLogin(options.credentials)
  }

  /** Known from the first answer to SETUP on. */
  get session(): RtspSession | undefined {
    return this.#session
  }

  /** The answer, which is a 2xx. @throws CameraError for every other outcome; the signal's reason when it aborts */
  async request(method: string, url: string, headers: readonly RtspHeader[] = []): Promise<RtspResponse> {
    const response = await this.#login.send(
      () => this.#send(method, url, headers),
      ({ status, headers }) => (status === 401 ? listHeaders(headers, 'WWW-Authenticate') : undefined),
    )
    if (response.status < 200 || response.status > 299) {
      throw describeStatus(response.status, method, this.#options.credentials !== undefined)
    }
    const session = findHeader(response.headers, 'Session')
    if (session !== undefined && method === 'SETUP') this.#session ??= parseSessionHeader(session)
    return response
  }

  /**
   * As `request`, at the first of the URLs, which say the same in different spellings, that the camera does not answer
   * with "not found" or the like. Gives the URL too.
   */
  async requestAny(
    method: string,
    urls: readonly string[],
    headers: readonly RtspHeader[] = [],
  ): Promise<{ readonly response: RtspResponse; readonly url: string }> {
    const [url = '', ...others] = urls
    try {
      return { response: await this.request(method, url, headers), url }
    } catch (error) {
      const isUnknown = error instanceof CameraError && otherSpelling.has(error.status ?? 0)
      if (!isUnknown || others.length === 0) throw error
      // What the first URL was answered tells more than what a guess was.
      return this.requestAny(method, others, headers).catch(() => Promise.reject(error))
    }
  }

  /** Asks the camera to end the session; does not wait for an answer. */
  sendTeardown(url: string): void {
    this.#options.connection.request('TEARDOWN', url, this.#headersFor('TEARDOWN', url)).answer.catch(() => {})
  }

  async #send(method: string, url: string, headers: readonly RtspHeader[]): Promise<RtspResponse> {
    const { connection, clock, signal, responseTimeoutMs } = this.#options
    const { answer, forget } = connection.request(method, url, [...this.#headersFor(method, url), ...headers])
    const answered = new AbortController()
    if (method === 'DESCRIBE') void this.#releaseIncomplete(AbortSignal.any([answered.signal, signal]))
    try {
      return await withDeadline(answer, {
        ms: responseTimeoutMs,
        clock,
        signal,
        onLate: () =>
          new CameraError(
            'camera_unreachable',
            `The camera did not answer ${method} within ${responseTimeoutMs / 1000} s: it may be busy or restarting.`,
            { trouble: 'timed_out' },
          ),
      })
    } finally {
      forget()
      answered.abort()
    }
  }

  async #releaseIncomplete(signal: AbortSignal): Promise<void> {
    const { connection, clock } = this.#options
    try {
      for (let before = -1; before !== connection.receivedBytes; ) {
        before = connection.receivedBytes
        await clock.sleep(incompleteAfterMs, signal)
      }
    } catch {
      return // it has been answered
    }
    connection.takeIncomplete()
  }

  #headersFor(method: string, url: string): RtspHeader[] {
    const headers: RtspHeader[] = [['User-Agent', 'Nightjar']]
    const authorization = this.#login.authorize(method, url)
    if (authorization !== undefined) headers.push(['Authorization', authorization])
    if (this.#session) headers.push(['Session', this.#session.id])
    return headers
  }
}

/**
 * Bad request, not found, parameter not understood, aggregate operation (not) allowed: what a camera says of a URL it
 * does not know.
 */
const otherSpelling: ReadonlySet<number> = new Set([400, 404, 451, 459, 460])

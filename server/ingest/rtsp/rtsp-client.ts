// Sends RTSP requests to one camera, with authentication, the session id and timeouts. rtsp-session.ts defines their
// order.

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

/** If nothing has arrived for this long, a description that is shorter than announced is used as it is. */
const incompleteAfterMs = 2000

export class RtspClient {
  readonly #options: RtspClientOptions
  readonly #login: CameraLogin
  #session: RtspSession | undefined

  constructor(options: RtspClientOptions) {
    this.#options = options
    this.#login = new CameraLogin(options.credentials)
  }

  /** Known after the first response to SETUP. */
  get session(): RtspSession | undefined {
    return this.#session
  }

  /**
   * Returns a response with status 2xx. @throws CameraError for every other outcome; the signal's reason when it aborts
   */
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
   * Like `request`, but tries several spellings of a URL until the camera does not answer with "not found" or a similar
   * status. Returns the accepted URL as well.
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
      // The response to the first URL says more than the response to a guess.
      return this.requestAny(method, others, headers).catch(() => Promise.reject(error))
    }
  }

  /** Asks the camera to end the session without waiting for a response. */
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
            { problem: 'timed_out' },
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
      return // The request was answered.
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
 * Bad request, not found, parameter not understood, (only) aggregate operation allowed: the responses of cameras to a
 * URL that they do not know.
 */
const otherSpelling: ReadonlySet<number> = new Set([400, 404, 451, 459, 460])

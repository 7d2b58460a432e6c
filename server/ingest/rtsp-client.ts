// Requests to one camera: authentication, the session id, time limits. The order of requests is rtsp-session.ts.

import type { Clock } from '../base/clock.ts'
import { findHeader, listHeaders, type RtspHeader, type RtspResponse } from '../media/rtsp/message.ts'
import { parseSessionHeader, type RtspSession } from '../media/rtsp/transport.ts'
import { CameraError, describeStatus } from './camera-error.ts'
import { withDeadline } from './deadline.ts'
import { type Authorizer, type Credentials, createAuthorizer, isStale } from './rtsp-auth.ts'
import type { RtspConnection } from './rtsp-connection.ts'

export type RtspClientOptions = {
  readonly connection: RtspConnection
  readonly credentials: Credentials | undefined
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly responseTimeoutMs: number
}

export class RtspClient {
  readonly #options: RtspClientOptions
  #authorizer: Authorizer | undefined
  #session: RtspSession | undefined

  constructor(options: RtspClientOptions) {
    this.#options = options
  }

  /** Known from the first answer to SETUP on. */
  get session(): RtspSession | undefined {
    return this.#session
  }

  /** The answer, which is a 2xx. @throws CameraError for every other outcome; the signal's reason when it aborts */
  async request(method: string, url: string, headers: readonly RtspHeader[] = []): Promise<RtspResponse> {
    let response = await this.#send(method, url, headers)
    // Twice, because the nonce we know may have expired, and the first answer with a new one may meet its end as well.
    for (let attempt = 0; response.status === 401 && attempt < 2; attempt++) {
      const challenges = listHeaders(response.headers, 'WWW-Authenticate')
      const wasTried = this.#authorizer !== undefined
      if (wasTried && attempt > 0 && !isStale(challenges)) break
      const { credentials } = this.#options
      if (!credentials) break
      this.#authorizer = createAuthorizer(challenges, credentials)
      if (!this.#authorizer) throw unknownScheme()
      response = await this.#send(method, url, headers)
    }
    if (response.status < 200 || response.status > 299) {
      throw describeStatus(response.status, method, this.#options.credentials !== undefined)
    }
    const session = findHeader(response.headers, 'Session')
    if (session !== undefined && method === 'SETUP') this.#session ??= parseSessionHeader(session)
    return response
  }

  /** Asks the camera to end the session; does not wait for an answer. */
  sendTeardown(url: string): void {
    this.#options.connection.request('TEARDOWN', url, this.#headersFor('TEARDOWN', url)).catch(() => {})
  }

  #send(method: string, url: string, headers: readonly RtspHeader[]): Promise<RtspResponse> {
    const { connection, clock, signal, responseTimeoutMs } = this.#options
    return withDeadline(connection.request(method, url, [...this.#headersFor(method, url), ...headers]), {
      ms: responseTimeoutMs,
      clock,
      signal,
      onLate: () =>
        new CameraError(
          'camera_unreachable',
          `The camera did not answer ${method} within ${responseTimeoutMs / 1000} s: it may be busy or restarting.`,
        ),
    })
  }

  #headersFor(method: string, url: string): RtspHeader[] {
    const headers: RtspHeader[] = [['User-Agent', 'Nightjar']]
    if (this.#authorizer) headers.push(['Authorization', this.#authorizer.authorize(method, url)])
    if (this.#session) headers.push(['Session', this.#session.id])
    return headers
  }
}

function unknownScheme(): CameraError {
  const detail = 'The camera asks for a kind of authentication that is not supported: set it to digest or basic.'
  return new CameraError('auth_failed', detail, { kind: 'unauthenticated' })
}

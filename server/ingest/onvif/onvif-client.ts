// Sends requests to the ONVIF services of one camera. Each service is at a checked IP address, both kinds of login are
// supported, and the size of responses is limited.

import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../base/clock.ts'
import { withDeadline } from '../../base/deadline.ts'
import { AppError } from '../../base/error.ts'
import { describeHttpError, HttpClient } from '../http/http-client.ts'
import type { AddressGuard, TestedAddress } from '../network/address-guard.ts'
import type { Credentials } from '../network/camera-auth.ts'
import { CameraError, describeStatus } from '../network/camera-error.ts'
import { type CameraUrl, parseCameraUrl } from '../network/camera-url.ts'
import { resolveTarget } from '../network/resolve-target.ts'
import { describeNoOnvif, describeOnvifLogin, readEnvelope, writeEnvelope, writeSecurity } from './soap.ts'
import { parseXml, XmlBudget, type XmlElement, xmlLimits } from './xml.ts'

export type OnvifClientOptions = {
  readonly addressGuard: AddressGuard
  readonly credentials: Credentials | undefined
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly responseMs: number
}

export class OnvifClient implements Disposable {
  /** The camera's clock minus the server's clock. Logins are stamped with the camera's time. */
  clockOffsetMs = 0
  /** Whether every contacted IP address is publicly reachable; see `TestedAddress`. */
  isPublic = false
  readonly #options: OnvifClientOptions
  readonly #budget = new XmlBudget(40_000)
  readonly #clients = new Map<string, HttpClient>()

  constructor(options: OnvifClientOptions) {
    this.#options = options
  }

  /**
   * Returns the response of the service at `url` to `body`. `isPublic`: sends no login.
   * @throws CameraError if there is no valid response; the signal's reason when it aborts
   */
  async call(url: string, body: string, { isPublic = false } = {}): Promise<XmlElement> {
    const { credentials, clock } = this.#options
    const hasCredentials = credentials !== undefined
    const client = await this.#clientOf(url)
    const security = hasCredentials && !isPublic ? writeSecurity(credentials, clock.nowMs() + this.clockOffsetMs) : ''
    const response = await client.post(writeEnvelope(body, security), 'application/soap+xml; charset=utf-8')
    const { statusCode: status = 0 } = response
    // Faults have status 400 or 500 and say more than the status. An error page without a fault is rejected by the
    // parser.
    const isReadable = (status >= 200 && status <= 299) || status === 400 || status === 500
    if (!isReadable) {
      response.destroy()
      if (status === 401) throw describeOnvifLogin(hasCredentials, status)
      const isElsewhere = status === 403 || (status >= 300 && status <= 399)
      throw isElsewhere ? describeStatus(status, 'POST', hasCredentials) : describeNoOnvif()
    }
    const bytes = await this.#readBody(response, url)
    try {
      return readEnvelope(parseXml(bytes, this.#budget), hasCredentials)
    } catch (error) {
      throw error instanceof AppError && error.kind === 'corrupt' ? describeNoOnvif(error) : error
    }
  }

  /** @throws the errors of `resolveTarget` */
  resolve(target: Pick<CameraUrl, 'host' | 'port'>): Promise<TestedAddress> {
    const { addressGuard, clock, responseMs, signal } = this.#options
    return resolveTarget(target, { addressGuard, clock, ms: responseMs, signal })
  }

  [Symbol.dispose](): void {
    for (const client of this.#clients.values()) client[Symbol.dispose]()
  }

  /** Uses one connection per service, and checks each IP address before connecting. */
  async #clientOf(url: string): Promise<HttpClient> {
    const known = this.#clients.get(url)
    if (known) return known
    const { clock, signal, responseMs, credentials } = this.#options
    const parsed = parseCameraUrl(url)
    const address = await this.resolve(parsed)
    this.isPublic = address.isPublic && (this.isPublic || this.#clients.size === 0)
    const client = new HttpClient({ url: parsed, address, credentials, clock, signal, responseMs })
    this.#clients.set(url, client)
    return client
  }

  async #readBody(response: IncomingMessage, url: string): Promise<Uint8Array> {
    const { clock, signal, responseMs } = this.#options
    const chunks: Buffer[] = []
    let size = 0
    const whole = new Promise<void>((resolve, reject) => {
      response.on('data', (chunk: Buffer) => {
        size += chunk.length
        chunks.push(chunk)
        if (size > xmlLimits.bytes) reject(describeNoOnvif())
      })
      response.on('end', resolve)
      response.on('error', (error) => reject(describeHttpError(error, parseCameraUrl(url))))
    })
    try {
      const onLate = () =>
        new CameraError(
          'camera_unreachable',
          `The camera did not complete its response within ${responseMs / 1000} s.`,
          {
            problem: 'timed_out',
          },
        )
      await withDeadline(whole, { ms: responseMs, clock, signal, onLate })
    } finally {
      response.destroy()
    }
    return Buffer.concat(chunks)
  }
}

// Requests to the ONVIF services of one camera: each to an address that was tested, with both kinds of login, and an
// answer of bounded size.

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
  /** The camera's clock minus ours: what it is sent is stamped by its own. */
  clockOffsetMs = 0
  /** Whether all that was connected to can be reached by anybody; see `TestedAddress`. */
  isPublic = false
  readonly #options: OnvifClientOptions
  readonly #budget = new XmlBudget(40_000)
  readonly #clients = new Map<string, HttpClient>()

  constructor(options: OnvifClientOptions) {
    this.#options = options
  }

  /**
   * What the service at `url` answers to `body`. `isPublic`: asked without a login.
   * @throws CameraError for everything but an answer; the signal's reason when it aborts
   */
  async call(url: string, body: string, { isPublic = false } = {}): Promise<XmlElement> {
    const { credentials, clock } = this.#options
    const hasCredentials = credentials !== undefined
    const client = await this.#clientOf(url)
    const security = hasCredentials && !isPublic ? writeSecurity(credentials, clock.nowMs() + this.clockOffsetMs) : ''
    const response = await client.post(writeEnvelope(body, security), 'application/soap+xml; charset=utf-8')
    const { statusCode: status = 0 } = response
    // Faults come with 400 and 500, and say more than those; pages of errors are read for nothing.
    const isAnswer = (status >= 200 && status <= 299) || status === 400 || status === 500
    if (!isAnswer) {
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

  /** Throws as `resolveTarget`. */
  resolve(target: Pick<CameraUrl, 'host' | 'port'>): Promise<TestedAddress> {
    const { addressGuard, clock, responseMs, signal } = this.#options
    return resolveTarget(target, { addressGuard, clock, ms: responseMs, signal })
  }

  [Symbol.dispose](): void {
    for (const client of this.#clients.values()) client[Symbol.dispose]()
  }

  /** One connection for each service, and each address tested before. */
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
            trouble: 'timed_out',
          },
        )
      await withDeadline(whole, { ms: responseMs, clock, signal, onLate })
    } finally {
      response.destroy()
    }
    return Buffer.concat(chunks)
  }
}

// Sends HTTP requests with authentication to one camera. It connects only to the tested IP address, whatever the URL or
// a response says, and does not follow redirects.

import { Agent, type IncomingMessage, request } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../base/clock.ts'
import { withDeadline } from '../../base/deadline.ts'
import type { CameraStats } from '../frames/camera-stats.ts'
import type { TestedAddress } from '../network/address-guard.ts'
import { CameraLogin, type Credentials } from '../network/camera-auth.ts'
import { CameraError, describeSocketError, describeStatus } from '../network/camera-error.ts'
import { connectCamera } from '../network/camera-socket.ts'
import type { CameraUrl } from '../network/camera-url.ts'
import type { SessionTap } from '../recorded/session-tap.ts'
import { RepairedSocket } from './repaired-socket.ts'

export type HttpClientOptions = {
  readonly url: CameraUrl
  readonly address: TestedAddress
  readonly credentials: Credentials | undefined
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly responseMs: number
  readonly stats?: Pick<CameraStats, 'deviations'>
  readonly tap?: SessionTap | undefined
}

type Headers = { readonly [name: string]: string }

type Sent = { readonly method: 'GET' | 'POST'; readonly headers: Headers; readonly body?: string }

export class HttpClient implements Disposable {
  readonly #options: HttpClientOptions
  readonly #login: CameraLogin
  readonly #agent: Agent
  /** The path as it appears in the request line and in the Digest hash. */
  readonly #path: string
  readonly #host: string

  constructor(options: HttpClientOptions) {
    const { url, address, tap } = options
    this.#options = options
    this.#login = new CameraLogin(options.credentials)
    const note = () => options.stats?.deviations.add('head_lines')
    // A request reports its errors. Between a response and the next request, no other listener exists.
    this.#agent = new CameraAgent(() =>
      new RepairedSocket(connectCamera(url, address), note, tap).on('error', () => {}),
    )
    const { pathname, search, host } = new URL(url.requestUrl)
    this.#path = pathname + search
    this.#host = host
  }

  /**
   * Returns the camera's response with status 2xx or 304. The caller must read its body to the end or destroy it.
   * @throws CameraError for every other outcome; the signal's reason when it aborts
   */
  async get(headers: Headers = {}): Promise<IncomingMessage> {
    const response = await this.#sendWithLogin({ method: 'GET', headers })
    const { statusCode = 0 } = response
    if ((statusCode >= 200 && statusCode <= 299) || statusCode === 304) return response
    response.destroy()
    throw describeStatus(statusCode, 'GET', this.#options.credentials !== undefined)
  }

  /** Like `get`, but returns the response whatever its status is. */
  post(body: string, type: string): Promise<IncomingMessage> {
    return this.#sendWithLogin({ method: 'POST', headers: { 'Content-Type': type }, body })
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }

  #sendWithLogin(sent: Sent): Promise<IncomingMessage> {
    return this.#login.send(
      () => this.#send(sent),
      (response) => {
        if (response.statusCode !== 401) return undefined
        // The body is not needed, but must be consumed before the connection can be used for the next request.
        response.resume()
        return listChallenges(response)
      },
    )
  }

  async #send({ method, headers, body }: Sent): Promise<IncomingMessage> {
    const { url, clock, signal, responseMs } = this.#options
    const authorization = this.#login.authorize(method, this.#path)
    const sent = request({
      method,
      agent: this.#agent,
      host: url.host,
      port: url.port,
      path: this.#path,
      headers: {
        Host: this.#host,
        'User-Agent': 'Nightjar',
        Accept: '*/*',
        ...(authorization !== undefined && { Authorization: toHeaderText(authorization) }),
        ...headers,
        ...(body !== undefined && { 'Content-Length': String(Buffer.byteLength(body)) }),
      },
      // Some cameras use line ends and header names that the strict parser rejects. Their responses are not relayed to
      // anybody.
      insecureHTTPParser: true,
      signal,
    })
    const response = new Promise<IncomingMessage>((resolve, reject) => {
      sent.on('response', (response) => {
        // The reader of the body adds its own listener. A body that nobody reads can still be ended by the signal.
        response.on('error', () => {})
        resolve(response)
      })
      sent.on('error', (error) => reject(describeHttpError(error, url)))
    })
    sent.end(body)
    try {
      return await withDeadline(response, {
        ms: responseMs,
        clock,
        signal,
        onLate: () => describeSilence(url, responseMs),
      })
    } catch (error) {
      sent.destroy()
      throw error
    }
  }
}

/** Keeps a connection for the next request, and connects only to the tested IP address. */
class CameraAgent extends Agent {
  readonly #connect: () => Duplex

  constructor(connect: () => Duplex) {
    super({ keepAlive: true, maxSockets: 1, maxFreeSockets: 1 })
    this.#connect = connect
  }

  override createConnection(): Duplex {
    return this.#connect()
  }
}

function listChallenges({ rawHeaders }: IncomingMessage): string[] {
  const isChallenge = (_: string, i: number) => i % 2 === 1 && rawHeaders[i - 1]!.toLowerCase() === 'www-authenticate'
  return rawHeaders.filter(isChallenge).map((value) => Buffer.from(value, 'latin1').toString())
}

/**
 * Converts text to the form that Node expects for a header value, one character per byte. Usernames and realms in other
 * scripts are sent as UTF-8, which is also what is hashed (RFC 7616 4).
 */
function toHeaderText(text: string): string {
  return Buffer.from(text).toString('latin1')
}

/** Describes a failure of the connection, or invalid data received over it. */
export function describeHttpError(error: Error, url: CameraUrl): CameraError {
  const code = 'code' in error ? String(error.code) : ''
  if (code.startsWith('HPE_')) {
    const detail = 'The camera answered with something other than HTTP: check the port of the URL.'
    return new CameraError('no_frames', detail, { cause: error, kind: 'corrupt', problem: 'not_a_camera' })
  }
  return describeSocketError(error, url)
}

function describeSilence({ host, port }: CameraUrl, ms: number): CameraError {
  const detail = `The camera at ${host}:${port} did not answer within ${ms / 1000} s: check that the camera is switched on and that its IP address is right.`
  return new CameraError('camera_unreachable', detail, { isUnreachable: true, problem: 'timed_out' })
}

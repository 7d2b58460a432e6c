// Whether a request carries the camera's user and password: Basic (RFC 7617) or Digest with MD5 or SHA-256 (RFC 7616).

import { createHash, randomBytes } from 'node:crypto'
import { parseAuthParameters, writeAuthParameters } from '../../../server/media/rtsp/challenge.ts'
import { findHeader, type RtspRequest } from '../../../server/media/rtsp/message.ts'

export type CameraAuth = {
  readonly scheme: 'basic' | 'digest-md5' | 'digest-sha256'
  readonly username: string
  readonly password: string
  /** Requests a nonce is good for; then a new one is demanded as `stale`. Unlimited unless given. */
  readonly maxNonceUses?: number
}

const realm = 'fake camera'

/** The state of one connection: the nonce is its own. */
export class Access {
  readonly #auth: CameraAuth
  #nonce = randomBytes(16).toString('hex')
  #uses = 0

  constructor(auth: CameraAuth) {
    this.#auth = auth
  }

  /** Undefined when the request may pass, else the challenge for `WWW-Authenticate`. */
  check(request: RtspRequest): string | undefined {
    const given = parseAuthParameters(findHeader(request.headers, 'authorization') ?? '')
    if (this.#auth.scheme === 'basic') {
      const token = /^basic +(\S+)$/i.exec(findHeader(request.headers, 'authorization') ?? '')?.[1]
      const expected = Buffer.from(`${this.#auth.username}:${this.#auth.password}`).toString('base64')
      return token === expected ? undefined : writeAuthParameters('Basic', [['realm', realm]])
    }
    if (given?.scheme !== 'digest' || !this.#isAnswer(given.parameters, request)) return this.#challenge(false)
    if (this.#auth.maxNonceUses !== undefined && ++this.#uses > this.#auth.maxNonceUses) {
      this.#uses = 0
      this.#nonce = randomBytes(16).toString('hex')
      return this.#challenge(true)
    }
    return undefined
  }

  /** Like most cameras: MD5 without quality of protection, as RFC 2069 had it; SHA-256 as RFC 7616 wants it. */
  #challenge(isStale: boolean): string {
    const isSha = this.#auth.scheme === 'digest-sha256'
    return writeAuthParameters('Digest', [
      ['realm', realm],
      ['nonce', this.#nonce],
      ...(isSha
        ? ([
            ['qop', 'auth'],
            ['algorithm', 'SHA-256'],
          ] as const)
        : []),
      ...(isStale ? ([['stale', 'TRUE']] as const) : []),
    ])
  }

  #isAnswer(answer: ReadonlyMap<string, string>, { method, url }: RtspRequest): boolean {
    const hash = (text: string) =>
      createHash(this.#auth.scheme === 'digest-sha256' ? 'sha256' : 'md5')
        .update(text)
        .digest('hex')
    const { username, password } = this.#auth
    if (answer.get('username') !== username || answer.get('uri') !== url || answer.get('nonce') !== this.#nonce)
      return false
    const qop = answer.get('qop')
    const middle = qop === undefined ? '' : `${answer.get('nc')}:${answer.get('cnonce')}:${qop}:`
    const secret = hash(`${username}:${realm}:${password}`)
    return answer.get('response') === hash(`${secret}:${this.#nonce}:${middle}${hash(`${method}:${url}`)}`)
  }
}

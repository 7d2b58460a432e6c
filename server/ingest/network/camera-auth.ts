// Responds to a camera's authentication challenge, over RTSP and HTTP: Basic (RFC 7617) and Digest with MD5 or SHA-256
// (RFC 2617, 7616).

import { createHash, randomBytes } from 'node:crypto'
import {
  type AuthParameters,
  parseAuthParameters,
  splitChallenges,
  writeAuthParameters,
} from '../../media/rtsp/challenge.ts'
import { describeUnknownLogin } from './camera-error.ts'

export type Credentials = { readonly username: string; readonly password: string }

export type Authorizer = {
  /** Returns the `Authorization` header of one request. */
  authorize(method: string, url: string): string
}

/** The login of one connection. It answers the camera's challenges and then authorizes every request. */
export class CameraLogin {
  readonly #credentials: Credentials | undefined
  #authorizer: Authorizer | undefined

  constructor(credentials: Credentials | undefined) {
    this.#credentials = credentials
  }

  /** The value of the `Authorization` header; undefined until the camera has sent a challenge. */
  authorize(method: string, url: string): string | undefined {
    return this.#authorizer?.authorize(method, url)
  }

  /**
   * Sends a request and repeats it when the camera asks for a login. It repeats it once more if the camera sends
   * another challenge, because the known nonce may have expired, and so may the new one. A wrong password is sent only
   * once, because cameras lock accounts.
   * @throws CameraError if the camera asks for an unsupported kind of authentication
   */
  async send<T>(request: () => Promise<T>, listChallenges: (response: T) => readonly string[] | undefined): Promise<T> {
    let response = await request()
    for (let attempt = 0; attempt < 2; attempt++) {
      const challenges = listChallenges(response)
      if (!challenges || !this.#credentials) break
      const isWrong = this.#authorizer !== undefined && attempt > 0 && !isStale(challenges)
      if (isWrong) break
      this.#authorizer = createAuthorizer(challenges, this.#credentials)
      if (!this.#authorizer) throw describeUnknownLogin()
      response = await request()
    }
    return response
  }
}

const digests: readonly { algorithm: string; hash: 'sha256' | 'md5'; strength: number }[] = [
  { algorithm: 'SHA-256', hash: 'sha256', strength: 2 },
  { algorithm: 'MD5', hash: 'md5', strength: 1 },
]

/**
 * Returns an authorizer for the strongest supported challenge (values of `WWW-Authenticate`), or undefined. Basic is
 * used only if nothing else is offered, because it reveals the password to the network.
 */
export function createAuthorizer(
  challenges: readonly string[],
  credentials: Credentials,
  createNonce: () => string = () => randomBytes(8).toString('hex'),
): Authorizer | undefined {
  const parsed = challenges.flatMap(splitChallenges).flatMap((value) => parseAuthParameters(value) ?? [])
  const digest = parsed
    .flatMap((challenge) => ({ challenge, digest: findDigest(challenge) }))
    .sort((a, b) => (b.digest?.strength ?? 0) - (a.digest?.strength ?? 0))[0]
  if (digest?.digest) return createDigest(digest.challenge, digest.digest, credentials, createNonce)
  if (!parsed.some(({ scheme }) => scheme === 'basic')) return undefined
  const token = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')
  return { authorize: () => `Basic ${token}` }
}

/**
 * True if the response was correct but its nonce has expired (RFC 7616, 3.3). The password is right, so respond again.
 */
export function isStale(challenges: readonly string[]): boolean {
  return challenges
    .flatMap(splitChallenges)
    .some((value) => parseAuthParameters(value)?.parameters.get('stale')?.toLowerCase() === 'true')
}

function findDigest({ scheme, parameters }: AuthParameters) {
  if (scheme !== 'digest' || !parameters.has('nonce')) return undefined
  const qop = parameters.get('qop')
  if (qop !== undefined && !qop.split(',').some((value) => value.trim() === 'auth')) return undefined
  const algorithm = (parameters.get('algorithm') || 'MD5').toUpperCase()
  return digests.find((known) => known.algorithm === algorithm)
}

function createDigest(
  { parameters }: AuthParameters,
  { hash }: { hash: 'sha256' | 'md5' },
  credentials: Credentials,
  createNonce: () => string,
): Authorizer {
  const hex = (text: string) => createHash(hash).update(text).digest('hex')
  const realm = parameters.get('realm') ?? ''
  const nonce = parameters.get('nonce') ?? ''
  const secret = hex(`${credentials.username}:${realm}:${credentials.password}`)
  const opaque = parameters.get('opaque')
  const algorithm = parameters.get('algorithm')
  let count = 0
  return {
    authorize(method, url) {
      const request = hex(`${method}:${url}`)
      // Control characters are not allowed in a header, and no camera has an account that contains them.
      const username = credentials.username.replace(/\p{Cc}/gu, '')
      const fields: [string, string][] = [
        ['username', username],
        ['realm', realm],
        ['nonce', nonce],
        ['uri', url],
      ]
      if (parameters.has('qop')) {
        const nc = (++count).toString(16).padStart(8, '0')
        const cnonce = createNonce()
        fields.push(['qop', 'auth'], ['nc', nc], ['cnonce', cnonce])
        fields.push(['response', hex(`${secret}:${nonce}:${nc}:${cnonce}:auth:${request}`)])
      } else {
        fields.push(['response', hex(`${secret}:${nonce}:${request}`)])
      }
      if (algorithm) fields.push(['algorithm', algorithm])
      if (opaque !== undefined) fields.push(['opaque', opaque])
      return writeAuthParameters('Digest', fields, new Set(['algorithm', 'qop', 'nc']))
    },
  }
}

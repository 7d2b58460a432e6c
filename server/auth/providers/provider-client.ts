// One identity provider: where browsers are sent, and what it asserts when they return (OpenID Connect Core,
// authorization code flow with PKCE). The assertions are verified here; their consequences are decided elsewhere.

import * as openid from 'openid-client'
import type { Clock } from '../../base/clock.ts'
import { AppError, errorChain } from '../../base/error.ts'
import { FairSemaphore } from '../../base/fair-semaphore.ts'
import type { Logger } from '../../base/log.ts'
import { SingleFlight } from '../../base/single-flight.ts'
import { emailKey, parseEmail } from '../../model/email.ts'
import { parsePersonName } from '../../model/person-name.ts'
import { addressBlock } from '../guard/address-block.ts'
import { type AuthMethod, isOnThisMachine, issuerKey, type ProviderSettings } from './provider-settings.ts'

export type ProviderClientOptions = {
  readonly settings: ProviderSettings
  /** The redirect URI of this server. */
  readonly redirectUri: string
  readonly fetch: openid.CustomFetch
  readonly clock: Clock
  readonly log: Logger
}

/** What is kept while the browser is at the provider. */
export type Challenge = { readonly state: string; readonly nonce: string; readonly verifier: string }

/** What the provider has proved. */
export type Claims = {
  readonly issuer: string
  readonly subject: string
  /** Undefined unless it is well formed. */
  readonly email: string | undefined
  readonly isEmailVerified: boolean
  readonly firstName: string
  readonly lastName: string
  /**
   * How long before it issued the token the provider last authenticated the person, by its own clock; undefined if it does
   * not say.
   */
  readonly authenticatedAgoS: number | undefined
}

export type Proof =
  | { readonly kind: 'proved'; readonly claims: Claims }
  /** The person or the provider denied the request. */
  | { readonly kind: 'denied' }
  /** The provider cannot be reached or fails. */
  | { readonly kind: 'unavailable' }
  /** The response is invalid. */
  | { readonly kind: 'invalid' }

const goodMs = 3_600_000
const staleMs = 24 * 3_600_000
const failureMs = 10_000
/** How often the same problem is logged. */
const warningMs = 10_000
/** OpenID Connect Core, section 2: "It MUST NOT exceed 255 ASCII characters in length." */
const maxSubjectLength = 255
/** The clocks of small machines differ. The token comes straight from the provider and holds our nonce. */
const clockToleranceS = 300
const denials: ReadonlySet<string> = new Set(['access_denied', 'login_required', 'interaction_required'])
/** The endpoints that the provider's metadata must contain. */
const neededEndpoints = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const

type Discovered = { readonly config: openid.Configuration; readonly atMs: number }

export class ProviderClient {
  readonly settings: ProviderSettings
  readonly #options: ProviderClientOptions
  /** Responses that the provider is slow to verify must not delay other users. */
  readonly #semaphore = new FairSemaphore<string>({
    maxRunning: 16,
    maxRunningOfOne: 4,
    maxWaitingOfOne: 50,
    refusal: 'too many sign-ins are returning from one IP address',
  })
  /** When each of the few log messages was last written. */
  readonly #warned = new Map<string, { readonly atMs: number; more: number }>()
  #discovered: Discovered | undefined
  #failedAtMs: number | undefined
  readonly #discovering = new SingleFlight<openid.Configuration>()

  constructor(options: ProviderClientOptions) {
    this.settings = options.settings
    this.#options = options
  }

  /** `isFresh` asks the provider to authenticate the person again. Throws 'unavailable'. */
  async begin(isFresh: boolean): Promise<{ readonly location: string; readonly challenge: Challenge }> {
    const config = await this.#discover()
    const challenge = {
      state: openid.randomState(),
      nonce: openid.randomNonce(),
      verifier: openid.randomPKCECodeVerifier(),
    }
    const location = openid.buildAuthorizationUrl(config, {
      redirect_uri: this.#options.redirectUri,
      scope: 'openid email profile',
      state: challenge.state,
      nonce: challenge.nonce,
      code_challenge: await openid.calculatePKCECodeChallenge(challenge.verifier),
      code_challenge_method: 'S256',
      ...(this.settings.answersByForm && { response_mode: 'form_post' }),
      ...(isFresh && { prompt: 'login', max_age: '0' }),
    })
    return { location: location.href, challenge }
  }

  /** Asks the provider for tokens with a code that is none. Throws 'unavailable' unless only the code is refused. */
  async check(): Promise<void> {
    const config = await this.#discover()
    const sent = { code: 'nightjar-check', redirect_uri: this.#options.redirectUri, code_verifier: 'x'.repeat(43) }
    try {
      await openid.genericGrantRequest(config, 'authorization_code', sent)
    } catch (error) {
      const reason = findOAuthError(error)
      if (reason === 'invalid_grant') return
      const advice = reason === 'invalid_client' ? ': check client_id, its secret, and token_endpoint_auth_method' : ''
      throw new AppError('unavailable', reason ? `the provider answers ${reason}${advice}` : describe(error))
    }
  }

  /** `query` is what the browser returned with, from `ip`. Never throws. */
  async finish(query: URLSearchParams, challenge: Challenge, ip: string): Promise<Proof> {
    try {
      return await this.#semaphore.run(addressBlock(ip), () => this.#prove(query, challenge))
    } catch (error) {
      this.#warn(error, 'an identity provider is unavailable')
      return { kind: 'unavailable' }
    }
  }

  async #prove(query: URLSearchParams, { state, nonce, verifier }: Challenge): Promise<Proof> {
    const { redirectUri } = this.#options
    try {
      const config = await this.#discover()
      const tokens = await openid.authorizationCodeGrant(config, new URL(`${redirectUri}?${query}`), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      return { kind: 'proved', claims: await this.#readClaims(config, tokens) }
    } catch (error) {
      return { kind: this.#explain(error) }
    }
  }

  async #readClaims(
    config: openid.Configuration,
    tokens: openid.TokenEndpointResponse & openid.TokenEndpointResponseHelpers,
  ): Promise<Claims> {
    const idToken = tokens.claims()!
    const { iss: issuer, sub: subject } = idToken
    if (subject === '' || subject.length > maxSubjectLength || /[^\x20-\x7e]/.test(subject)) {
      throw new AppError('invalid', 'the subject of the identity is not allowed by the standard')
    }
    const said = await this.#complete(config, tokens.access_token, idToken)
    const email = readEmail(said.email)
    const isVerified = readSwitch(said.email_verified) ?? this.settings.assignsAddresses
    return {
      issuer,
      subject,
      email,
      isEmailVerified: email !== undefined && isVerified,
      firstName: readName(said.given_name) || readName(said.name),
      lastName: readName(said.given_name) && readName(said.family_name),
      authenticatedAgoS: idToken.auth_time === undefined ? undefined : idToken.iat - idToken.auth_time,
    }
  }

  /**
   * Some providers return claims at another endpoint that the token lacks. Whether an address is verified counts only if it is
   * said of this address, and never against the token.
   */
  async #complete(
    config: openid.Configuration,
    accessToken: string,
    idToken: openid.IDToken,
  ): Promise<Readonly<Record<string, unknown>>> {
    const { email, email_verified: verified, given_name: first, name } = idToken
    const isWhole = email !== undefined && verified !== undefined && (first !== undefined || name !== undefined)
    if (isWhole) return idToken
    const more = await this.#askUserInfo(config, accessToken, idToken.sub)
    const isSame = email === undefined || readEmail(more.email) === readEmail(email)
    const isSaidHere = email !== undefined && verified !== undefined
    const isVerified =
      isSaidHere || readSwitch(verified) === false ? verified : isSame ? more.email_verified : undefined
    return { ...more, ...idToken, email: email ?? more.email, email_verified: isVerified }
  }

  /** Linked users can sign in without it. */
  async #askUserInfo(
    config: openid.Configuration,
    accessToken: string,
    subject: string,
  ): Promise<Readonly<Record<string, unknown>>> {
    if (config.serverMetadata().userinfo_endpoint === undefined) return {}
    try {
      const { email, email_verified, given_name, family_name, name } = await openid.fetchUserInfo(
        config,
        accessToken,
        subject,
      )
      const said = { email, email_verified, given_name, family_name, name }
      return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined))
    } catch (error) {
      this.#warn(error, "an identity provider did not return the user's email address")
      return {}
    }
  }

  #explain(error: unknown): 'denied' | 'unavailable' | 'invalid' {
    if (error instanceof openid.AuthorizationResponseError) {
      if (denials.has(error.error)) return 'denied'
      this.#warn(
        new Error(`error ${JSON.stringify(error.error.slice(0, 50))}`),
        'an identity provider denied a sign-in',
      )
      return /^(server_error|temporarily_unavailable)$/.test(error.error) ? 'unavailable' : 'invalid'
    }
    const isUnavailable = isFailure(error)
    this.#warn(
      error,
      isUnavailable ? 'an identity provider is unavailable' : 'the response of an identity provider is invalid',
    )
    return isUnavailable ? 'unavailable' : 'invalid'
  }

  #warn(error: unknown, what: string): void {
    const { settings, log, clock } = this.#options
    const nowMs = clock.monotonicMs()
    const former = this.#warned.get(what)
    // Strangers can trigger this message as often as they like.
    if (former && nowMs - former.atMs < warningMs) {
      former.more++
      return
    }
    this.#warned.set(what, { atMs: nowMs, more: 0 })
    const unsaid = former?.more ? { unsaid: former.more } : {}
    log.warn({ provider: settings.id, reason: describe(error), ...unsaid }, what)
  }

  /** Discovery runs once, however many callers wait for it. */
  #discover(): Promise<openid.Configuration> {
    const nowMs = this.#options.clock.monotonicMs()
    const present = this.#discovered
    if (present && nowMs - present.atMs < goodMs) return Promise.resolve(present.config)
    const isStaleGood = present !== undefined && nowMs - present.atMs < staleMs
    if (this.#failedAtMs !== undefined && nowMs - this.#failedAtMs < failureMs) {
      return isStaleGood ? Promise.resolve(present.config) : Promise.reject(notNow(failureMs))
    }
    return this.#discovering.run(() => this.#look(isStaleGood ? present.config : undefined))
  }

  async #look(former: openid.Configuration | undefined): Promise<openid.Configuration> {
    const { settings, fetch, clock } = this.#options
    const isPlain = settings.issuer.startsWith('http:')
    try {
      const metadata = {
        ...(settings.clientSecret !== undefined && { client_secret: settings.clientSecret }),
        [openid.clockTolerance]: clockToleranceS,
      }
      const config = await openid.discovery(
        new URL(settings.issuer),
        settings.clientId,
        metadata,
        authenticateAs(settings.authMethod),
        {
          [openid.customFetch]: fetch,
          // Verifies signatures too, although the token was received over TLS.
          execute: [openid.enableNonRepudiationChecks, ...(isPlain ? [openid.allowInsecureRequests] : [])],
        },
      )
      checkMetadata(config.serverMetadata(), settings)
      this.#discovered = { config, atMs: clock.monotonicMs() }
      this.#failedAtMs = undefined
      return config
    } catch (error) {
      this.#failedAtMs = clock.monotonicMs()
      this.#warn(error, 'an identity provider is unavailable')
      if (former) return former
      throw notNow(failureMs, error)
    }
  }
}

/**
 * Uses a method that the provider supports. Without metadata, the standard defines "basic" (OpenID Connect Discovery,
 * section 3).
 */
function authenticateAs(configured: AuthMethod | undefined): openid.ClientAuth {
  return (server, client, body, headers) => {
    const secret = client.client_secret as string | undefined
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const usual = methods.includes('client_secret_basic') ? 'client_secret_basic' : 'client_secret_post'
    const method = secret === undefined ? 'none' : (configured ?? usual)
    if (method === 'none') return openid.None()(server, client, body, headers)
    if (method === 'client_secret_post') return openid.ClientSecretPost(secret)(server, client, body, headers)
    const credentials = `${encodeForm(client.client_id)}:${encodeForm(secret!)}`
    headers.set('authorization', `Basic ${Buffer.from(credentials).toString('base64')}`)
  }
}

/**
 * RFC 6749 appendix B, but only what a form must encode: many providers do not decode at all, and most secrets consist of
 * characters that need no encoding.
 */
function encodeForm(text: string): string {
  return encodeURIComponent(text).replaceAll('%20', '+')
}

/** Throws unless the document is complete and belongs to the configured issuer. */
function checkMetadata(server: Readonly<openid.ServerMetadata>, { issuer }: ProviderSettings): void {
  if (issuerKey(server.issuer) !== issuerKey(issuer))
    throw new AppError('unavailable', 'the issuer differs from the configured one')
  const isPlain = issuer.startsWith('http:')
  for (const name of neededEndpoints) {
    const url = typeof server[name] === 'string' ? URL.parse(server[name]) : null
    const isGood = url?.protocol === 'https:' || (isPlain && url?.protocol === 'http:' && isOnThisMachine(url))
    if (!isGood) throw new AppError('unavailable', `its ${name} is missing or not an https URL`)
  }
}

/** True for errors of the network or the provider, as opposed to an invalid response. */
function isFailure(error: unknown): boolean {
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    if (each instanceof AppError) return each.kind === 'unavailable'
    const { code } = each as { code?: unknown }
    if (code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT' || code === 'OAUTH_RESPONSE_IS_NOT_CONFORM') return true
    if (code === 'OAUTH_RESPONSE_IS_NOT_JSON') return true
  }
  return false
}

/** The error of the provider's answer, by its name in RFC 6749; undefined if there is none. */
function findOAuthError(error: unknown): string | undefined {
  if (error instanceof openid.ResponseBodyError) return /^\w{1,50}$/.exec(error.error)?.[0]
  // RFC 6749 section 5.2: a client that used the header may be answered by one.
  if (error instanceof openid.WWWAuthenticateChallengeError) return 'invalid_client'
  return undefined
}

/** Describes the error without text that the provider may have sent. */
function describe(error: unknown): string {
  const parts: string[] = []
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    const { code, error: answered } = each as { code?: unknown; error?: unknown }
    if (each instanceof AppError) parts.push(errorChain(each))
    else if (typeof answered === 'string') parts.push(`${each.message} (${JSON.stringify(answered.slice(0, 50))})`)
    else parts.push(typeof code === 'string' ? `${each.message} (${code})` : each.message)
    if (each instanceof AppError) break
  }
  const isLate = parts.some((part) => part.includes('OAUTH_JWT_TIMESTAMP_CHECK_FAILED'))
  return parts.join(': ').slice(0, 500) + (isLate ? '; the clock of this server may be wrong' : '')
}

function notNow(afterMs: number, cause?: unknown): AppError {
  return new AppError('unavailable', 'the identity provider cannot be reached', {
    retryAfterSeconds: Math.ceil(afterMs / 1000),
    ...(cause !== undefined && { cause }),
  })
}

/**
 * Rejects letters of other scripts that become ASCII in lower case (such as the Kelvin sign). Providers and mail
 * servers treat them as different letters.
 */
function readEmail(value: unknown): string | undefined {
  try {
    const email = typeof value === 'string' ? parseEmail(value) : undefined
    const isAmbiguous = email !== undefined && isAsciiName(emailKey(email)) !== isAsciiName(email)
    return isAmbiguous ? undefined : email
  } catch {
    return undefined
  }
}

const isAsciiName = (email: string): boolean => /^[\0-\x7f]*$/.test(email.slice(0, email.lastIndexOf('@')))

/** Apple and Cognito send text. Anything else says nothing. */
function readSwitch(value: unknown): boolean | undefined {
  if (value === true || value === 'true') return true
  return value === false || value === 'false' ? false : undefined
}

/** Returns an empty string if it is not a valid name. */
function readName(value: unknown): string {
  try {
    return typeof value === 'string' ? parsePersonName(value, 'first_name') : ''
  } catch {
    return ''
  }
}

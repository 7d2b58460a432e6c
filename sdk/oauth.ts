// Signing people in with their account (RFC 6749, with PKCE by RFC 7636), and the end of it (RFC 7009). What keeps the tokens and
// renews them is session.ts.

import type { CallOptions } from './call.ts'
import { NightjarError } from './error.ts'
import { Http, type HttpAnswer, type HttpOptions, readError, readJson } from './http.ts'

/** An application that is registered with the server. */
export type OAuthApp = HttpOptions & {
  readonly clientId: string
  /** Of applications that can keep one; a web page or a phone app cannot and has none. */
  readonly clientSecret?: string | undefined
}

/** What a sign-in is worth. Plain data, to be stored as JSON; secret. */
export type TokenPair = {
  readonly accessToken: string
  /** Good for one refresh. */
  readonly refreshToken: string
  /** Granted scopes, space separated. */
  readonly scope: string
  /** When the access token ends by this machine's clock, ISO 8601. */
  readonly expiresAt: string
}

export type AuthorizeRequest = {
  readonly redirectUri: string
  /** Space separated, for instance `read write`. */
  readonly scope: string
  /** Languages the pages of signing in should speak, the best first, space separated; default: as the browser has it. */
  readonly uiLocales?: string | undefined
}

/** `state` and `codeVerifier` have to be kept until the browser comes back (in `sessionStorage`, say), and forgotten then. */
export type AuthorizeStart = { readonly url: string; readonly state: string; readonly codeVerifier: string }

/** Where to send the browser. */
export async function createAuthorizeUrl(app: OAuthApp, request: AuthorizeRequest): Promise<AuthorizeStart> {
  const state = createSecret()
  const codeVerifier = createSecret()
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(codeVerifier))
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: app.clientId,
    redirect_uri: request.redirectUri,
    scope: request.scope,
    state,
    code_challenge: writeBase64Url(new Uint8Array(digest)),
    code_challenge_method: 'S256',
    ...(request.uiLocales !== undefined && { ui_locales: request.uiLocales }),
  })
  return { url: `${new Http(app).resolve('/oauth/authorize/')}?${query}`, state, codeVerifier }
}

/**
 * The code in the address the browser came back to. Throws 'sign_in_failed' when it belongs to another attempt or another server
 * (`issuer`, checked when given: for programs that let people choose one), or the refusal as the server put it, `access_denied` for instance.
 */
export function readAuthorizationCode(
  callbackUrl: string | URL,
  { state, issuer }: { readonly state: string; readonly issuer?: string | undefined },
): string {
  const query = new URL(callbackUrl).searchParams
  const fail = (detail: string) => new NightjarError({ status: 0, title: 'sign_in_failed', detail })
  if (query.get('state') !== state) throw fail('The answer belongs to another attempt to sign in.')
  const from = query.get('iss')
  if (issuer !== undefined && from !== issuer) throw fail(`The answer comes from ${from ?? 'an unknown server'}.`)
  const refusal = query.get('error')
  if (refusal !== null) {
    const detail = query.get('error_description') ?? `Signing in was refused (${refusal}).`
    throw new NightjarError({ status: 0, title: refusal, detail })
  }
  const code = query.get('code')
  if (code === null) throw fail('The answer holds no code.')
  return code
}

/** Once, within a minute of the browser's coming back. */
export function exchangeCode(
  app: OAuthApp,
  sent: { readonly code: string; readonly redirectUri: string; readonly codeVerifier: string },
  options?: CallOptions,
): Promise<TokenPair> {
  const { code, redirectUri, codeVerifier } = sent
  const fields = { code, redirect_uri: redirectUri, code_verifier: codeVerifier }
  return askForTokens(app, { grant_type: 'authorization_code', ...fields }, options)
}

/** For programs of one's own: others should never see a password. Neither is to be stored; the refresh token is. */
export function logInWithPassword(
  app: OAuthApp,
  sent: { readonly username: string; readonly password: string; readonly scope?: string | undefined },
  options?: CallOptions,
): Promise<TokenPair> {
  const { username, password, scope } = sent
  return askForTokens(
    app,
    { grant_type: 'password', username, password, ...(scope !== undefined && { scope }) },
    options,
  )
}

/**
 * A new pair for a refresh token, which is used up by it. With the same `idempotencyKey` the same pair comes again for a minute, when
 * the answer was lost. A `Session` does all this by itself.
 */
export function refreshTokens(
  app: OAuthApp,
  sent: { readonly refreshToken: string; readonly idempotencyKey?: string | undefined },
  options?: CallOptions,
): Promise<TokenPair> {
  const { refreshToken, idempotencyKey } = sent
  const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
  return askForTokens(app, { grant_type: 'refresh_token', refresh_token: refreshToken }, options, headers)
}

/** Ends a sign-in by either of its tokens, with all its other tokens. */
export async function revokeToken(app: OAuthApp, token: string, options?: CallOptions): Promise<void> {
  const answer = await post(app, '/oauth/token-revoke/', { token }, options)
  if (answer.status !== 200) throw readError(answer)
}

export function createSecret(): string {
  return writeBase64Url(crypto.getRandomValues(new Uint8Array(32)))
}

type Form = Readonly<Record<string, string>>

async function askForTokens(app: OAuthApp, form: Form, options?: CallOptions, headers?: Form): Promise<TokenPair> {
  const askedMs = Date.now()
  const answer = await post(app, '/oauth/token/', form, options, headers)
  if (answer.status !== 200) throw readError(answer)
  const said = Object(readJson(answer)) as Record<string, unknown>
  const { access_token, refresh_token, scope, expires_in } = said
  if (typeof access_token !== 'string' || typeof refresh_token !== 'string' || typeof expires_in !== 'number') {
    throw new NightjarError({ status: 200, title: 'invalid_answer', detail: 'The answer holds no tokens.' })
  }
  return {
    accessToken: access_token,
    refreshToken: refresh_token,
    scope: String(scope ?? ''),
    expiresAt: new Date(askedMs + expires_in * 1000).toISOString(),
  }
}

function post(app: OAuthApp, path: string, form: Form, options?: CallOptions, headers?: Form): Promise<HttpAnswer> {
  const { clientId, clientSecret } = app
  const client = { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) }
  return new Http(app).send({
    method: 'POST',
    path,
    headers: { ...headers, accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ ...form, ...client }).toString(),
    ...options,
  })
}

function writeBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

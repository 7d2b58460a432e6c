// Requests to the authorization endpoint (RFC 6749 section 4.1.1, RFC 7636 section 4.3), and where an error is
// reported: to the user as long as the redirect target is not certain, to the application after that.

import { type Fields, sortFields } from './fields.ts'
import { OAuthError } from './oauth-error.ts'
import { isRegistered, isWellFormed } from './redirect-uri.ts'
import { chooseScopes } from './scope.ts'

/** As sent, percent-encoded. */
const maxStateLength = 8192

const parameters: ReadonlySet<string> = new Set([
  ...['client_id', 'redirect_uri', 'response_type', 'response_mode', 'scope', 'state'],
  ...['code_challenge', 'code_challenge_method', 'request', 'request_uri'],
])

export type AuthorizeClient = {
  readonly isConfidential: boolean
  readonly redirectUris: readonly string[]
  readonly scopes: readonly string[]
}

export type AuthorizeQuery = {
  readonly fields: Fields
  /** As it was sent, percent-encoded: what it means is the application's own. */
  readonly state: string | undefined
  /** Of parameters that are sent twice or unreadable. */
  readonly faults: ReadonlyMap<string, OAuthError>
}

/** Where the response goes, whatever it is. */
export type AuthorizeTarget = { readonly redirectUri: string; readonly state: string | undefined }

export type AuthorizeInput = { readonly scopes: readonly string[]; readonly codeChallenge: string | undefined }

/** `search`: the query as it was sent. */
export function readAuthorizeQuery(search: string): AuthorizeQuery {
  const { fields, faults } = sortFields(new URLSearchParams(search), parameters)
  return { fields, faults, state: fields.has('state') && !faults.has('state') ? findRaw(search, 'state') : undefined }
}

/** The percent-encoded value of a parameter that is there once with a value. */
function findRaw(search: string, name: string): string | undefined {
  for (const pair of search.replace(/^\?/, '').split('&')) {
    const [key, ...value] = pair.split('=')
    if (value.length > 0 && new URLSearchParams(key).has(name) && value.join('=') !== '') return value.join('=')
  }
  return undefined
}

/** Throws 'invalid_request', to be shown to the user and never sent to the redirect URI. */
export function readClientId({ fields, faults }: AuthorizeQuery): string {
  const fault = faults.get('client_id') ?? faults.get('redirect_uri')
  if (fault) throw fault
  const clientId = fields.get('client_id')
  if (clientId === undefined) throw new OAuthError('invalid_request', 'Missing client_id parameter.')
  return clientId
}

/** Throws 'invalid_request', to be shown to the user and never sent to the redirect URI. */
export function readTarget({ fields, state }: AuthorizeQuery, client: AuthorizeClient | undefined): AuthorizeTarget {
  if (!client) throw new OAuthError('invalid_request', 'Invalid client_id parameter value.')
  const redirectUri = fields.get('redirect_uri')
  if (redirectUri === undefined) throw new OAuthError('invalid_request', 'Missing redirect URI.')
  if (!isRegistered(redirectUri, client.redirectUris)) {
    throw new OAuthError(
      'invalid_request',
      isWellFormed(redirectUri) ? 'Mismatching redirect URI.' : 'Invalid redirect URI.',
    )
  }
  if (state !== undefined && state.length > maxStateLength) {
    throw new OAuthError('invalid_request', `The state has more than ${maxStateLength} characters.`)
  }
  return { redirectUri, state }
}

/** Throws errors for the application. */
export function readAuthorizeInput({ fields, faults }: AuthorizeQuery, client: AuthorizeClient): AuthorizeInput {
  for (const fault of faults.values()) throw fault
  if (fields.has('request')) throw new OAuthError('request_not_supported')
  if (fields.has('request_uri')) throw new OAuthError('request_uri_not_supported')
  switch (fields.get('response_type')) {
    case 'code':
      break
    case undefined:
      throw new OAuthError('invalid_request', 'Missing response_type parameter.')
    case 'token':
      throw new OAuthError('unauthorized_client')
    default:
      throw new OAuthError('unsupported_response_type')
  }
  if ((fields.get('response_mode') ?? 'query') !== 'query') {
    throw new OAuthError('invalid_request', 'Unsupported response_mode.')
  }
  return { scopes: chooseScopes(fields.get('scope'), client.scopes), codeChallenge: readChallenge(fields, client) }
}

/** An application without a secret has no other way to prove that a code is its own. */
function readChallenge(fields: Fields, client: AuthorizeClient): string | undefined {
  const challenge = fields.get('code_challenge')
  const method = fields.get('code_challenge_method')
  if (challenge === undefined) {
    if (!client.isConfidential) throw new OAuthError('invalid_request', 'Code challenge required.')
    if (method !== undefined) throw new OAuthError('invalid_request', 'Missing code_challenge parameter.')
    return undefined
  }
  // The default method is `plain`, which proves nothing to anybody who saw the request.
  if (method !== 'S256') throw new OAuthError('invalid_request', 'Transform algorithm not supported.')
  if (!/^[\w-]{43}$/.test(challenge)) throw new OAuthError('invalid_request', 'Malformed code_challenge parameter.')
  return challenge
}

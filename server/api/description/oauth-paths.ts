// Describes the OAuth endpoints, which take forms and have their own error format (RFC 6749 section 5.2).

import { sampleOrigin } from '../../../contract/description/samples.ts'
import { languageTags } from '../pages/texts/languages.ts'
import type { Operation, Parameter, PathItem, RequestBody, Response, Schema } from './openapi.ts'
import { headers } from './refusals.ts'

const client = {
  client_id: { type: 'string', description: 'Id of the application; not needed with HTTP Basic authentication.' },
  client_secret: {
    type: 'string',
    description: 'Secret of the application, if it has one. Send it here or with HTTP Basic authentication, not both.',
  },
} as const satisfies { [name: string]: Schema }

const scopeOf = (otherwise: string): Schema => ({
  type: 'string',
  description: `Scopes separated by spaces. Default: ${otherwise}.`,
})

const scope = scopeOf('`read write`, as far as the application may request them')

const grant = (type: string, properties: { [name: string]: Schema }, required: string[]): Schema => ({
  type: 'object',
  properties: { grant_type: { type: 'string', const: type }, ...properties, ...client },
  required: ['grant_type', ...required],
})

const text = (description: string): Schema => ({ type: 'string', description })

/** Components of the description. */
export const oauthSchemas: { readonly [name: string]: Schema } = {
  AuthorizationCodeGrant: grant(
    'authorization_code',
    {
      code: text('The authorization code. It can be used once, within one minute.'),
      redirect_uri: text('The same URI as in the authorization request.'),
      code_verifier: text('PKCE (RFC 7636): the value from which `code_challenge` was derived.'),
    },
    ['code', 'redirect_uri'],
  ),
  PasswordGrant: grant('password', { username: text('The email address.'), password: text('The password.'), scope }, [
    'username',
    'password',
  ]),
  RefreshTokenGrant: grant(
    'refresh_token',
    {
      refresh_token: text(
        'The newest refresh token. It can be used once; using it again revokes the whole authorization.',
      ),
      scope: scopeOf('all granted scopes. Fewer scopes apply only to the new access token'),
    },
    ['refresh_token'],
  ),
  TokenPair: {
    type: 'object',
    properties: {
      access_token: text('Use it in the header `Authorization: Bearer …`.'),
      expires_in: { type: 'integer', description: 'Lifetime of the access token in seconds.' },
      token_type: { type: 'string', const: 'Bearer' },
      scope: text('The granted scopes.'),
      refresh_token: text('Use it to get the next pair.'),
    },
    required: ['access_token', 'expires_in', 'token_type', 'scope', 'refresh_token'],
  },
  OAuthError: {
    type: 'object',
    properties: {
      error: text('Error code for programs.'),
      error_description: text('Explanation for people.'),
    },
    required: ['error'],
  },
}

const refer = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

const pair = {
  access_token: 'njat_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2yZ3aB4cD5eF6',
  expires_in: 36_000,
  token_type: 'Bearer',
  scope: 'read write',
  refresh_token: 'njrt_6Fe5Dc4Ba3Zy2Xw1Vu0Ts9Rq8Po7Nm6Lk5Ji4Hg3Fe2Dc1Ba0',
}

const refusal = (description: string, example: object, own: Response['headers'] = {}): Response => ({
  description,
  headers: own,
  content: { 'application/json': { schema: refer('OAuthError'), example } },
})

const retryAfter = { 'Retry-After': headers.RetryAfter }

const refusals: { readonly [status: string]: Response } = {
  400: refusal('The request or the grant is invalid.', {
    error: 'invalid_grant',
    error_description: 'Invalid credentials given.',
  }),
  401: refusal(
    'The application is unknown, or its secret is wrong.',
    { error: 'invalid_client' },
    {
      'WWW-Authenticate': headers.AuthenticateBearer,
    },
  ),
  421: refusal('The server is not configured for the host name of the request.', { error: 'invalid_request' }),
  429: refusal('Too many requests, or too many wrong passwords.', { error: 'rate_limited' }, retryAfter),
  503: refusal('Not available at the moment.', { error: 'temporarily_unavailable' }, retryAfter),
}

const security = [{}, { clientSecret: [] }]

const writeForm = (schema: Schema, examples: { [name: string]: { summary: string; value: object } }): RequestBody => ({
  description: 'A form in one of the two encodings. Fields must not be repeated.',
  required: true,
  content: {
    'application/x-www-form-urlencoded': { schema, examples },
    'multipart/form-data': { schema },
  },
})

const clientId = 'vK3nq8TfWb1xYz0LrD5cGh7JmPs2QeUa'

const token: Operation = {
  operationId: 'createTokenPair',
  tags: ['OAuth'],
  summary: 'Request an access token',
  description:
    'Exchanges an authorization code, a password or a refresh token for a pair of tokens. A refresh invalidates all earlier tokens of the same sign-in, including the access token.',
  parameters: [
    {
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description:
        'Any text, for refresh requests. If the response was lost, repeat the request with the same key to get the same response again; this works for a short time.',
      schema: { type: 'string', maxLength: 255 },
      example: '8e03978e-40d5-43dd-bc93-6894a57f9324',
    },
  ],
  requestBody: writeForm(
    { oneOf: ['AuthorizationCodeGrant', 'PasswordGrant', 'RefreshTokenGrant'].map(refer) },
    {
      refresh: {
        summary: 'With a refresh token',
        value: { grant_type: 'refresh_token', client_id: clientId, refresh_token: pair.refresh_token },
      },
      code: {
        summary: 'With an authorization code',
        value: {
          grant_type: 'authorization_code',
          client_id: clientId,
          client_secret: 'njcs_3k9QmZ1xT7vB2nW8rY5pL0dH6sJ4cF1gE9aU7iO3kM1q0Vt2Xb',
          code: 'njac_9sT0uV1wX2yZ3aB4cD5eF60aB1cD2eF3gH4iJ5kL6mN7oP8qR4',
          redirect_uri: 'https://porch.example/back',
        },
      },
      password: {
        summary: 'With a password',
        value: {
          grant_type: 'password',
          client_id: clientId,
          scope: 'read',
          username: 'ada@example.com',
          password: 'correct horse',
        },
      },
    },
  ),
  responses: {
    200: {
      description: 'The pair of tokens. It must not be cached.',
      content: { 'application/json': { schema: refer('TokenPair'), example: pair } },
    },
    ...refusals,
  },
  security,
}

const revoke: Operation = {
  operationId: 'revokeToken',
  tags: ['OAuth'],
  summary: 'Revoke a token',
  description:
    'Revokes all tokens of the sign-in that the given access or refresh token belongs to. The response for unknown tokens is the same.',
  requestBody: writeForm(
    {
      type: 'object',
      properties: { token: text('The access or refresh token.'), token_type_hint: text('Ignored.'), ...client },
      required: ['token'],
    },
    { refresh: { summary: 'Sign out', value: { client_id: clientId, token: pair.refresh_token } } },
  ),
  responses: { 200: { description: 'The tokens are revoked. The response is empty.' }, ...refusals },
  security,
}

const query = (name: string, required: boolean, description: string, example: string): Parameter => ({
  name,
  in: 'query',
  required,
  description,
  schema: { type: 'string' },
  example,
})

const page: Response['content'] = { 'text/html': { schema: { type: 'string' } } }

/** Browsers get a page, and programs get errors in the usual format. */
const errorPage: Response['content'] = { ...page, 'application/json': { schema: refer('Problem') } }

const authorize: Operation = {
  operationId: 'authorize',
  tags: ['OAuth'],
  summary: 'Request authorization from a user',
  description:
    'An application sends its user’s browser to this page. The browser returns to `redirect_uri` with `code`, `state` and `iss`, or with `error`. If the URI is not registered for the application, this page shows an error and does not redirect.',
  parameters: [
    { ...query('response_type', true, 'Always `code`.', 'code'), schema: { type: 'string', const: 'code' } },
    query('client_id', true, 'Id of the application.', clientId),
    query(
      'redirect_uri',
      true,
      'One of the redirect URIs of the application; it must match exactly.',
      'https://porch.example/back',
    ),
    // The interface document requires the parameter. This server accepts requests without it.
    query('scope', true, scope.description!, 'read'),
    query('state', false, 'Returned unchanged. Recommended as a protection against forged responses.', 'b7f1d0'),
    query(
      'code_challenge',
      false,
      'PKCE (RFC 7636). Required for an application without a secret.',
      'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    ),
    query('code_challenge_method', false, 'Always `S256`.', 'S256'),
    query(
      'ui_locales',
      false,
      `Preferred languages of the pages, separated by spaces, best first. Available: ${languageTags.map((tag) => `\`${tag}\``).join(' and ')}. Default: the language of the browser.`,
      'de',
    ),
  ],
  responses: {
    200: { description: 'The authorization page.', content: page },
    302: { description: 'Redirects to the sign-in page, or back to the application with an error.' },
    400: { description: 'The application is unknown, or the redirect URI is not registered.', content: errorPage },
    429: { description: 'Too many requests.', headers: retryAfter, content: errorPage },
  },
  security: [],
}

const metadata: Operation = {
  operationId: 'getAuthorizationServer',
  tags: ['OAuth'],
  summary: 'Get the authorization server metadata',
  description: 'Extension. Returns endpoints, grants and scopes (RFC 8414).',
  'x-nightjar-extension': true,
  responses: {
    200: {
      description: 'The metadata.',
      content: {
        'application/json': {
          schema: { type: 'object', additionalProperties: true },
          example: { issuer: sampleOrigin, token_endpoint: `${sampleOrigin}/oauth/token/` },
        },
      },
    },
    421: { $ref: '#/components/responses/MisdirectedRequest' },
  },
  security: [],
}

export const oauthPaths: { readonly [path: string]: PathItem } = {
  '/oauth/authorize/': { get: authorize },
  '/oauth/token/': { post: token },
  '/oauth/token-revoke/': { post: revoke },
  '/.well-known/oauth-authorization-server': { get: metadata },
}

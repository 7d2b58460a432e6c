// The OAuth endpoints as the description shows them: they speak forms, and have their own form of errors (RFC 6749
// section 5.2).

import { sampleOrigin } from '../../../contract/description/samples.ts'
import { languageTags } from '../pages/texts/languages.ts'
import type { Operation, Parameter, PathItem, RequestBody, Response, Schema } from './openapi.ts'
import { headers } from './refusals.ts'

const client = {
  client_id: { type: 'string', description: 'Of the application; not needed when it is sent by HTTP Basic.' },
  client_secret: {
    type: 'string',
    description: 'Of an application that has one. Here or by HTTP Basic, never both.',
  },
} as const satisfies { [name: string]: Schema }

const scopeOf = (otherwise: string): Schema => ({
  type: 'string',
  description: `Scopes separated by spaces. When missing, ${otherwise}.`,
})

const scope = scopeOf('`read write`, as far as the application may ask for them')

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
      code: text('As it came back to the application; good once and for a minute.'),
      redirect_uri: text('The same as at the authorization endpoint.'),
      code_verifier: text('PKCE (RFC 7636): what `code_challenge` was made from.'),
    },
    ['code', 'redirect_uri'],
  ),
  PasswordGrant: grant('password', { username: text('The e-mail address.'), password: text('The password.'), scope }, [
    'username',
    'password',
  ]),
  RefreshTokenGrant: grant(
    'refresh_token',
    {
      refresh_token: text('The newest one. It is good once; presented again, it ends everything granted.'),
      scope: scopeOf('what was granted; fewer are for the new access token alone'),
    },
    ['refresh_token'],
  ),
  TokenPair: {
    type: 'object',
    properties: {
      access_token: text('For the header `Authorization: Bearer …`.'),
      expires_in: { type: 'integer', description: 'Seconds the access token is good for.' },
      token_type: { type: 'string', const: 'Bearer' },
      scope: text('What was granted.'),
      refresh_token: text('For the next pair.'),
    },
    required: ['access_token', 'expires_in', 'token_type', 'scope', 'refresh_token'],
  },
  OAuthError: {
    type: 'object',
    properties: {
      error: text('Short identifier, for programs.'),
      error_description: text('For people.'),
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
  400: refusal('The request is not valid, or the grant is not.', {
    error: 'invalid_grant',
    error_description: 'Invalid credentials given.',
  }),
  401: refusal(
    'The application is not known, or its secret is wrong.',
    { error: 'invalid_client' },
    {
      'WWW-Authenticate': headers.AuthenticateBearer,
    },
  ),
  429: refusal('Too many requests, or too many wrong passwords.', { error: 'rate_limited' }, retryAfter),
  503: refusal('Not available at the moment.', { error: 'temporarily_unavailable' }, retryAfter),
}

const security = [{}, { clientSecret: [] }]

const writeForm = (schema: Schema, examples: { [name: string]: { summary: string; value: object } }): RequestBody => ({
  description: 'A form, in either of the two ways forms are sent. No field may be repeated.',
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
    'For a code, for a password, or for a refresh token. A refresh makes all earlier tokens of the log-in invalid, the access token included.',
  parameters: [
    {
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description:
        'Any text, with a refresh: a request that is repeated with the same key, because its answer was lost, is answered the same again for a while.',
      schema: { type: 'string', maxLength: 255 },
      example: '8e03978e-40d5-43dd-bc93-6894a57f9324',
    },
  ],
  requestBody: writeForm(
    { oneOf: ['AuthorizationCodeGrant', 'PasswordGrant', 'RefreshTokenGrant'].map(refer) },
    {
      refresh: {
        summary: 'A new pair',
        value: { grant_type: 'refresh_token', client_id: clientId, refresh_token: pair.refresh_token },
      },
      code: {
        summary: 'For a code',
        value: {
          grant_type: 'authorization_code',
          client_id: clientId,
          client_secret: 'njcs_3k9QmZ1xT7vB2nW8rY5pL0dH6sJ4cF1gE9aU7iO3kM1q0Vt2Xb',
          code: 'njac_9sT0uV1wX2yZ3aB4cD5eF60aB1cD2eF3gH4iJ5kL6mN7oP8qR4',
          redirect_uri: 'https://porch.example/back',
        },
      },
      password: {
        summary: 'For a password',
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
      description: 'The pair. Not to be kept by caches.',
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
    'With an access token or a refresh token, of which either ends all tokens of the log-in. A token that is not known is answered the same.',
  requestBody: writeForm(
    {
      type: 'object',
      properties: { token: text('The access or refresh token.'), token_type_hint: text('Ignored.'), ...client },
      required: ['token'],
    },
    { refresh: { summary: 'Log out', value: { client_id: clientId, token: pair.refresh_token } } },
  ),
  responses: { 200: { description: 'Ended; the answer is empty.' }, ...refusals },
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

/** To programs errors are told as everywhere else. */
const errorPage: Response['content'] = { ...page, 'application/json': { schema: refer('Problem') } }

const authorize: Operation = {
  operationId: 'authorize',
  tags: ['OAuth'],
  summary: 'Request authorization from a user',
  description:
    'An application sends the browser of its user here, and gets it back at `redirect_uri`, with `code`, `state` and `iss`, or with `error`. An address that is not registered for the application is refused here.',
  parameters: [
    { ...query('response_type', true, 'Always `code`.', 'code'), schema: { type: 'string', const: 'code' } },
    query('client_id', true, 'Of the application.', clientId),
    query(
      'redirect_uri',
      true,
      'Registered for the application, character by character.',
      'https://porch.example/back',
    ),
    // The interface asks for it; this server does not insist, as others do not.
    query('scope', true, scope.description!, 'read'),
    query('state', false, 'Comes back as it was sent; recommended against forged answers.', 'b7f1d0'),
    query(
      'code_challenge',
      false,
      'PKCE (RFC 7636); required from an application without a secret.',
      'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    ),
    query('code_challenge_method', false, 'Always `S256`.', 'S256'),
    query(
      'ui_locales',
      false,
      `Languages the pages should speak, the best first, separated by spaces; there are ${languageTags.map((tag) => `\`${tag}\``).join(' and ')}. When missing, it is the browser’s.`,
      'de',
    ),
  ],
  responses: {
    200: { description: 'The page that asks.', content: page },
    302: { description: 'To sign in first, or back to the application with an error.' },
    400: { description: 'The application or its address is wrong.', content: errorPage },
    429: { description: 'Too many requests.', headers: retryAfter, content: errorPage },
  },
  security: [],
}

const metadata: Operation = {
  operationId: 'getAuthorizationServer',
  tags: ['OAuth'],
  summary: 'Get the authorization server metadata',
  description: 'Extension. Addresses, grants and scopes, as RFC 8414 has them.',
  'x-nightjar-extension': true,
  responses: {
    200: {
      description: 'Addresses, grants, scopes.',
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

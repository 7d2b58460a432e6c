// An OpenID Connect provider that does what it is told, right or wrong: over TLS, with keys of its own, and with a fault for each check
// that a relying party has to make. The browser's part is played by whoever tests.

import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { generate } from 'selfsigned'

export type TokenRequest = { readonly form: URLSearchParams; readonly authorization: string | undefined }

/** What it says of the person who signs in, and how it says it. */
export type Saying = {
  /** Over what an honest provider puts into the ID token; undefined takes a claim away. */
  claims?: Readonly<Record<string, unknown>>
  header?: Readonly<Record<string, unknown>>
  /** Signed with a key that it does not publish. */
  isForged?: boolean
  /** The third part of the token. */
  signature?: string
  /** In the place of the whole answer to the code. */
  answer?: (response: ServerResponse) => void
  userinfo?: Readonly<Record<string, unknown>>
}

export type LyingProvider = AsyncDisposable & {
  readonly issuer: string
  /** PEM. */
  readonly ca: string
  /** What stands in its description, over what an honest one says; undefined takes it away. */
  description: Readonly<Record<string, unknown>>
  /** In the place of the description. */
  describe: ((response: ServerResponse) => void) | undefined
  saying: Saying
  readonly tokenRequests: readonly TokenRequest[]
  /** Paths asked for, oldest first. */
  readonly asked: readonly string[]
  /** What an honest provider sends the browser back with, once its person has signed in, from the address the browser was sent to. */
  authorize(location: string, saying?: Saying): URLSearchParams
}

const clientId = 'nightjar'

/** `port`: to come back at a place where it was. */
export async function openLyingProvider(): Promise<LyingProvider> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  })
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const codes = new Map<string, { query: URLSearchParams; saying: Saying }>()
  const tokenRequests: TokenRequest[] = []
  const asked: string[] = []
  let issuer = ''
  const self = {
    description: {} as Readonly<Record<string, unknown>>,
    describe: undefined as ((response: ServerResponse) => void) | undefined,
    saying: {} as Saying,
  }

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname } = new URL(request.url!, issuer)
    asked.push(pathname)
    if (pathname === '/.well-known/openid-configuration') {
      if (self.describe) return self.describe(response)
      return sendJson(response, { ...describeHonestly(issuer), ...self.description })
    }
    if (pathname === '/keys') {
      return sendJson(response, {
        keys: [{ ...keys.publicKey.export({ format: 'jwk' }), kid: 'k', use: 'sig', alg: 'RS256' }],
      })
    }
    if (pathname === '/token') {
      const form = new URLSearchParams(await readText(request))
      tokenRequests.push({ form, authorization: request.headers.authorization })
      const code = codes.get(form.get('code') ?? '')
      codes.delete(form.get('code') ?? '')
      if (!code) return sendJson(response, { error: 'invalid_grant' }, 400)
      const saying = { ...self.saying, ...code.saying }
      if (saying.answer) return saying.answer(response)
      const idToken = writeToken(issuer, code.query, saying, saying.isForged ? other.privateKey : keys.privateKey)
      return sendJson(response, { access_token: 'at', token_type: 'Bearer', expires_in: 60, id_token: idToken })
    }
    if (pathname === '/userinfo') return sendJson(response, self.saying.userinfo ?? {})
    response.writeHead(404).end()
  }

  const server = createServer({ key, cert }, (request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  issuer = `https://localhost:${(server.address() as AddressInfo).port}`
  return Object.assign(self, {
    issuer,
    ca: cert,
    tokenRequests,
    asked,
    authorize(location: string, saying: Saying = {}) {
      const query = new URL(location).searchParams
      const code = randomBytes(12).toString('base64url')
      codes.set(code, { query, saying })
      return new URLSearchParams({ code, state: query.get('state')!, iss: issuer })
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}

function describeHonestly(issuer: string) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    userinfo_endpoint: `${issuer}/userinfo`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    authorization_response_iss_parameter_supported: true,
  }
}

function writeToken(
  issuer: string,
  query: URLSearchParams,
  { claims, header, signature }: Saying,
  key: KeyObject,
): string {
  const nowS = Math.floor(Date.now() / 1000)
  const head = { alg: 'RS256', kid: 'k', ...header }
  const body = {
    iss: issuer,
    sub: 'person-1',
    aud: clientId,
    iat: nowS,
    exp: nowS + 300,
    nonce: query.get('nonce'),
    ...claims,
  }
  const text = [head, body].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${text}.${signature ?? sign('sha256', Buffer.from(text), key).toString('base64url')}`
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

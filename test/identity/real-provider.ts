// A certified OpenID Connect provider (oidc-provider) on this machine, over TLS, with its own pages for signing in and for consent.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import { generate } from 'selfsigned'
import { clientSecret } from './provider-file.ts'

/** What it says of a person; `sub` is the name they type to sign in there. */
export type PersonThere = { email?: string; email_verified?: unknown; given_name?: string; family_name?: string }

export type RealProvider = AsyncDisposable & {
  readonly issuer: string
  /** PEM. */
  readonly ca: string
  /** By the name that they sign in with there, with any password. */
  readonly people: Map<string, PersonThere>
  /** Lets the relying party in; nobody can use the provider before. */
  register(redirectUri: string): void
  /** Nothing answers at its address from now on. */
  goDown(): Promise<void>
}

export type RealProviderOptions = {
  /** The ID token has no address, as is this provider's own way. */
  readonly userinfoOnly?: boolean
  readonly secret?: string
  readonly authMethod?: 'client_secret_basic' | 'client_secret_post'
  /** Another one than that of the server makes it another site. */
  readonly host?: 'localhost' | '127.0.0.1'
}

export async function openRealProvider({
  userinfoOnly = false,
  secret = clientSecret,
  authMethod = 'client_secret_basic',
  host = 'localhost',
}: RealProviderOptions = {}): Promise<RealProvider> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    extensions: [
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  })
  let answer: ((request: IncomingMessage, response: ServerResponse) => void) | undefined
  const server = createServer({ key, cert }, (request, response) => {
    if (answer) answer(request, response)
    else response.writeHead(503).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `https://${host}:${(server.address() as AddressInfo).port}`
  const people = new Map<string, PersonThere>()
  const goDown = async () => {
    if (!server.listening) return
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return {
    issuer,
    ca: cert,
    people,
    register(redirectUri) {
      const provider = new Provider(issuer, {
        clients: [
          {
            client_id: 'nightjar',
            client_secret: secret,
            token_endpoint_auth_method: authMethod,
            redirect_uris: [redirectUri],
            grant_types: ['authorization_code'],
            response_types: ['code'],
          },
        ],
        claims: { email: ['email', 'email_verified'], profile: ['name', 'given_name', 'family_name'] },
        conformIdTokenClaims: userinfoOnly,
        pkce: { required: () => true },
        cookies: { keys: ['a key of a test'] },
        findAccount: (_context, sub) => {
          const person = people.get(sub)
          return person && { accountId: sub, claims: async () => ({ sub, ...person }) }
        },
      })
      const handle = provider.callback()
      answer = (request, response) => void handle(request, response)
    },
    goDown,
    [Symbol.asyncDispose]: goDown,
  }
}

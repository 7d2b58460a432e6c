// Gets tokens for the dashboard, which is an ordinary OAuth client (authorization code with PKCE) and keeps its tokens
// in memory. While the browser session lasts, the authorization endpoint redirects straight back, so it is requested in
// the background. The page navigates to it only when the user has to interact.

import {
  type Auth,
  type AuthorizeStart,
  createAuthorizeUrl,
  exchangeCode,
  type NightjarError,
  type OAuthApp,
  readAuthorizationCode,
  Session,
  type TokenPair,
} from '../../sdk/index.ts'

const callbackPath = '/signed-in'

/** Scopes for everything about cameras. Creating or revoking credentials needs more, and the password. */
export const usualScope = 'user_access'
export const accountScope = 'user_access account_manage'

export type SignInOptions = {
  /** Base URL of the server, which also serves this page. */
  readonly origin: string
  /** Language tag of the user's choice. The sign-in pages use it too. */
  readonly language: () => string
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>
  /** Navigates away from this page. */
  readonly go: (url: string) => void
  readonly fetch?: typeof fetch
}

/** State that must survive the redirect to the sign-in pages and back. */
type PendingSignIn = { readonly codeVerifier: string; readonly scope: string; readonly returnTo: string }

export type Finished = { readonly tokens: TokenPair; readonly scope: string; readonly returnTo: string }

export class SignIn {
  readonly #options: SignInOptions
  readonly #app: OAuthApp
  readonly #redirectUri: string

  constructor(options: SignInOptions) {
    this.#options = options
    this.#app = { baseUrl: options.origin, clientId: 'nightjar-dashboard' }
    this.#redirectUri = `${options.origin}${callbackPath}`
  }

  isCallback({ pathname }: { readonly pathname: string }): boolean {
    return pathname === callbackPath
  }

  /** Requests tokens in the background. Returns undefined when the user has to sign in or enter the password again. */
  async silently(scope: string): Promise<TokenPair | undefined> {
    const { url, state, codeVerifier } = await this.#start(scope)
    const send = this.#options.fetch ?? fetch
    const answer = await send(url, { headers: { accept: 'text/html' }, cache: 'no-store' })
    if (!this.isCallback(new URL(answer.url))) return undefined
    const code = readAuthorizationCode(answer.url, { state, issuer: this.#options.origin })
    return exchangeCode(this.#app, { code, codeVerifier, redirectUri: this.#redirectUri })
  }

  /** Navigates the whole page to sign in. It returns to `returnTo`, a path of the dashboard. */
  async leave(scope: string, returnTo: string): Promise<void> {
    const { url, state, codeVerifier } = await this.#start(scope)
    const kept: PendingSignIn = { codeVerifier, scope, returnTo }
    this.#options.storage.setItem(keyOf(state), JSON.stringify(kept))
    this.#options.go(url)
  }

  /**
   * Handles the return to `callbackUrl`. Returns undefined when no sign-in is pending, for instance when an old URL is
   * opened again. Throws the server's refusal.
   */
  async finish(callbackUrl: string): Promise<Finished | undefined> {
    const state = new URL(callbackUrl).searchParams.get('state') ?? ''
    const text = this.#options.storage.getItem(keyOf(state))
    if (text === null) return undefined
    this.#options.storage.removeItem(keyOf(state))
    const { codeVerifier, scope, returnTo } = JSON.parse(text) as PendingSignIn
    const code = readAuthorizationCode(callbackUrl, { state, issuer: this.#options.origin })
    const tokens = await exchangeCode(this.#app, { code, codeVerifier, redirectUri: this.#redirectUri })
    return { tokens, scope, returnTo }
  }

  /**
   * Client of the signed-in user. When the tokens expire, it gets new ones in the background or redirects to sign in.
   */
  createAuth(tokens: TokenPair, returnTo: () => string): Auth {
    let session = new Session({ ...this.#app, tokens })
    let renewing: Promise<void> | undefined
    let last = session.authorization()
    const replace = async () => {
      const fresh = await this.silently(usualScope)
      if (fresh) session = new Session({ ...this.#app, tokens: fresh })
      else await this.leave(usualScope, returnTo())
    }
    return {
      // Keep the last token after expiry: later calls are then refused and wait for the same renewal.
      authorization: () => (session.tokens ? (last = session.authorization()) : last),
      async renew(refused) {
        try {
          await session.renew(refused)
        } catch (error) {
          if ((error as NightjarError).title !== 'session_ended') throw error
          renewing ??= replace().finally(() => {
            renewing = undefined
          })
          await renewing
        }
      },
    }
  }

  /**
   * Client for what the password was entered for. `onEnd` is called when the grant has expired and the password is
   * needed again.
   */
  createAccountAuth(tokens: TokenPair, onEnd: () => void): Auth {
    const onTokens = (fresh: TokenPair | undefined) => {
      if (fresh === undefined) onEnd()
    }
    return new Session({ ...this.#app, tokens, onTokens })
  }

  #start(scope: string): Promise<AuthorizeStart> {
    const uiLocales = this.#options.language()
    return createAuthorizeUrl(this.#app, { redirectUri: this.#redirectUri, scope, uiLocales })
  }
}

function keyOf(state: string): string {
  return `sign-in ${state}`
}

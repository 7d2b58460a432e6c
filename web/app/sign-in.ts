// The dashboard's way to a token: an OAuth client like any other (authorization code, PKCE), its tokens in memory only.
// While the browser's session lasts, the authorization endpoint sends straight back, so it is asked in the background; only
// when it wants something of the person does the whole page go there.

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

/** Everything about cameras. What makes or ends credentials needs more, and the password for it. */
export const usualScope = 'user_access'
export const accountScope = 'user_access account_manage'

export type SignInOptions = {
  /** Of the server, and of this page. */
  readonly origin: string
  /** Of the person, as a tag: the pages of signing in speak it too. */
  readonly language: () => string
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>
  /** Leaves this page. */
  readonly go: (url: string) => void
  readonly fetch?: typeof fetch
}

/** What must be known again when the browser comes back. */
type Kept = { readonly codeVerifier: string; readonly scope: string; readonly returnTo: string }

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

  /** Tokens without leaving the page; undefined when the person has to sign in, or to give the password again. */
  async silently(scope: string): Promise<TokenPair | undefined> {
    const { url, state, codeVerifier } = await this.#start(scope)
    const send = this.#options.fetch ?? fetch
    const answer = await send(url, { headers: { accept: 'text/html' }, cache: 'no-store' })
    if (!this.isCallback(new URL(answer.url))) return undefined
    const code = readAuthorizationCode(answer.url, { state, issuer: this.#options.origin })
    return exchangeCode(this.#app, { code, codeVerifier, redirectUri: this.#redirectUri })
  }

  /** The whole page goes to sign in, and comes back to `returnTo`, a path of this dashboard. */
  async leave(scope: string, returnTo: string): Promise<void> {
    const { url, state, codeVerifier } = await this.#start(scope)
    const kept: Kept = { codeVerifier, scope, returnTo }
    this.#options.storage.setItem(keyOf(state), JSON.stringify(kept))
    this.#options.go(url)
  }

  /**
   * When the browser has come back to `callbackUrl`. Undefined when it is not known what for: an old address, opened again. Throws what
   * the server refused.
   */
  async finish(callbackUrl: string): Promise<Finished | undefined> {
    const state = new URL(callbackUrl).searchParams.get('state') ?? ''
    const text = this.#options.storage.getItem(keyOf(state))
    if (text === null) return undefined
    this.#options.storage.removeItem(keyOf(state))
    const { codeVerifier, scope, returnTo } = JSON.parse(text) as Kept
    const code = readAuthorizationCode(callbackUrl, { state, issuer: this.#options.origin })
    const tokens = await exchangeCode(this.#app, { code, codeVerifier, redirectUri: this.#redirectUri })
    return { tokens, scope, returnTo }
  }

  /** Calls as whoever is signed in; when the tokens end, others are got in the background, or the page goes to sign in. */
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
      // After the end it is the last one, so that who calls then is refused, and waits for the renewal with the others.
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

  /** Calls with what the password was given for. `onEnd`: it is granted no more, and the password has to be given again. */
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

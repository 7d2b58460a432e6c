// A sign-in that stays: holds the newest pair of tokens and renews it, once for all calls that find the old one refused.

import type { Auth } from './auth.ts'
import { NightjarError } from './error.ts'
import { createSecret, type OAuthApp, refreshTokens, revokeToken, type TokenPair } from './oauth.ts'
import { pause } from './wait.ts'

export type SessionOptions = OAuthApp & {
  readonly tokens: TokenPair
  /**
   * Called with each new pair of tokens before it is used, and with undefined when the session has ended. Store the tokens here, since a refresh token
   * is good only once. What it throws is what the waiting calls throw.
   */
  readonly onTokens?: ((tokens: TokenPair | undefined) => void | Promise<void>) | undefined
  /** For programs of which several share one sign-in: the pair stored last, which another of them may have renewed. */
  readonly loadTokens?: (() => TokenPair | undefined | Promise<TokenPair | undefined>) | undefined
}

/** An answer that is lost is asked for again after these times. */
const retryDelaysMs = [500, 2000]

export class Session implements Auth {
  readonly #options: SessionOptions
  #tokens: TokenPair | undefined
  #refreshing: Promise<TokenPair> | undefined
  /** Of the refresh whose answer is still missing: with it the server gives the same answer again. */
  #idempotencyKey: { readonly of: string; readonly key: string } | undefined

  constructor(options: SessionOptions) {
    this.#options = options
    this.#tokens = options.tokens
  }

  /** The newest pair; undefined when the session has ended. */
  get tokens(): TokenPair | undefined {
    return this.#tokens
  }

  authorization(): string {
    return `Bearer ${this.#getTokens().accessToken}`
  }

  async renew(refused: string): Promise<void> {
    if (this.authorization() === refused) await this.refresh()
  }

  /** A new pair now; with others asking at the same time, one for all. Throws 'session_ended' when there is none to be had any more. */
  refresh(): Promise<TokenPair> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  /** Signs out: the server forgets the sign-in, and so does this. */
  async end(): Promise<void> {
    await this.#refreshing?.catch(() => {})
    const tokens = this.#tokens
    if (tokens === undefined) return
    await revokeToken(this.#options, tokens.refreshToken)
    await this.#keep(undefined)
  }

  #getTokens(): TokenPair {
    if (this.#tokens === undefined) throw sessionEnded()
    return this.#tokens
  }

  async #refresh(): Promise<TokenPair> {
    const tokens = this.#getTokens()
    const stored = await this.#findRenewed(tokens)
    if (stored) return stored
    try {
      return await this.#keep(await this.#ask(tokens.refreshToken))
    } catch (error) {
      if (!(error instanceof NightjarError) || error.title !== 'invalid_grant') throw error
      const late = await this.#findRenewed(tokens)
      if (late) return late
      await this.#keep(undefined)
      throw sessionEnded(error)
    }
  }

  /** What another program has made of the same sign-in meanwhile. */
  async #findRenewed(tokens: TokenPair): Promise<TokenPair | undefined> {
    const stored = await this.#options.loadTokens?.()
    if (stored === undefined || stored.refreshToken === tokens.refreshToken) return undefined
    this.#tokens = stored
    return stored
  }

  async #ask(refreshToken: string): Promise<TokenPair> {
    if (this.#idempotencyKey?.of !== refreshToken) this.#idempotencyKey = { of: refreshToken, key: createSecret() }
    const { key } = this.#idempotencyKey
    for (let attempt = 0; ; attempt++) {
      try {
        return await refreshTokens(this.#options, { refreshToken, idempotencyKey: key })
      } catch (error) {
        const delayMs = retryDelaysMs[attempt]
        const isLost = error instanceof NightjarError && (error.status === 0 || error.status >= 500)
        if (!isLost || delayMs === undefined) throw error
        await pause(delayMs)
      }
    }
  }

  async #keep<T extends TokenPair | undefined>(tokens: T): Promise<T> {
    this.#tokens = tokens
    await this.#options.onTokens?.(tokens)
    return tokens
  }
}

function sessionEnded(cause?: NightjarError): NightjarError {
  const detail = 'The session has ended. Please sign in again.'
  return new NightjarError({ status: 401, title: 'session_ended', detail, cause })
}

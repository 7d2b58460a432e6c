// OAuth 2.0 as the rest of the server sees it: authorization, tokens, revocation, and the grants that users have given.

import type { Grant } from '../../store/grants.ts'
import type { RequestContext } from '../request-context.ts'
import { AuthorizeDesk } from './authorize-desk.ts'
import type { OAuthOptions } from './oauth-options.ts'
import type {
  AuthorizeCheck,
  AuthorizeDescription,
  AuthorizeRequest,
  RevokeInput,
  TokenAnswer,
  TokenInput,
} from './oauth-types.ts'
import { TokenDesk } from './token-desk.ts'

const cleaningIntervalMs = 3_600_000

export class OAuth {
  readonly #options: OAuthOptions
  readonly #authorizeDesk: AuthorizeDesk
  readonly #tokenDesk: TokenDesk

  constructor(options: OAuthOptions) {
    this.#options = options
    this.#authorizeDesk = new AuthorizeDesk(options)
    this.#tokenDesk = new TokenDesk(options)
  }

  /** What the query of GET /oauth/authorize/ asks for; changes nothing. */
  checkAuthorize(query: URLSearchParams): Promise<AuthorizeCheck> {
    return this.#authorizeDesk.check(query)
  }

  /**
   * The user said yes: where to send the browser, with a code. `context` is the user's. What the server's own application is
   * granted ends with `sessionId`. Throws 'conflict' when the application was changed meanwhile and 'not_found' when it, the user or
   * the session is gone.
   */
  approve(
    request: AuthorizeRequest,
    userId: number,
    context: RequestContext,
    sessionId?: string,
  ): Promise<{ location: string }> {
    return this.#authorizeDesk.approve(request, userId, context, sessionId)
  }

  /** The user said no. Throws 'conflict' when the application was changed meanwhile, or is gone. */
  deny(request: AuthorizeRequest): Promise<{ location: string }> {
    return this.#authorizeDesk.deny(request)
  }

  describe(request: AuthorizeRequest): AuthorizeDescription {
    return this.#authorizeDesk.describe(request)
  }

  /** POST /oauth/token/. Refusals are answers; rejects only for what is our fault. */
  token(input: TokenInput): Promise<TokenAnswer> {
    return this.#tokenDesk.token(input)
  }

  /** POST /oauth/token-revoke/. As `token`. */
  revoke(input: RevokeInput): Promise<TokenAnswer> {
    return this.#tokenDesk.revoke(input)
  }

  /** What a user has granted and not ended, newest first. */
  listGrants(userId: number): Promise<Grant[]> {
    return this.#options.store.grants.list(userId)
  }

  /** The user ends one. False when there is no such grant of theirs. */
  async revokeGrant(userId: number, grantId: number, context?: RequestContext): Promise<boolean> {
    const { store, audit } = this.#options
    const [revoked] = await store.grants.revoke({ userId, id: grantId }, 'revoked_by_user')
    if (revoked === undefined) return false
    audit.write({ event: 'grant.revoked', userId, ...(context && { context }), detail: { grant: grantId } })
    return true
  }

  /** After a change of password, for support, when an account is disabled. `reason`: one word, for the records. */
  async revokeAllOfUser(userId: number, reason: string, context?: RequestContext): Promise<void> {
    const { store, audit } = this.#options
    const revoked = await store.grants.revoke({ userId }, reason)
    if (revoked.length === 0) return
    const detail = { grants: revoked.length, reason }
    audit.write({ event: 'grant.revoked', userId, ...(context && { context }), detail })
  }

  /** Forgets by the hour what has expired; ends when `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { store, clock } = this.#options
    while (!signal.aborted) {
      await store.grants.removeExpired()
      await clock.sleep(cleaningIntervalMs, signal).catch(() => {})
    }
  }
}

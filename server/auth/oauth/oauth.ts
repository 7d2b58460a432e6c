// OAuth 2.0 as the rest of the server sees it: authorization, tokens, revocation, and the grants that users have given.

import type { Grant } from '../../store/grants.ts'
import type { RequestContext } from '../request-context.ts'
import { AuthorizeService } from './authorize-service.ts'
import type { OAuthOptions } from './oauth-options.ts'
import type {
  AskedSession,
  AuthorizeCheck,
  AuthorizeDescription,
  AuthorizeRequest,
  RevokeInput,
  TokenAnswer,
  TokenInput,
} from './oauth-types.ts'
import { TokenService } from './token-service.ts'

const cleaningIntervalMs = 3_600_000

export class OAuth {
  readonly #options: OAuthOptions
  readonly #authorizeService: AuthorizeService
  readonly #tokenService: TokenService

  constructor(options: OAuthOptions) {
    this.#options = options
    this.#authorizeService = new AuthorizeService(options)
    this.#tokenService = new TokenService(options)
  }

  /** What the query of GET /oauth/authorize/ asks for; changes nothing. */
  checkAuthorize(query: URLSearchParams): Promise<AuthorizeCheck> {
    return this.#authorizeService.check(query)
  }

  /**
   * The user said yes: where to send the browser, with a code. `context` is the user's. What the server's own application is
   * granted ends with the session. Throws 'conflict' when the application was changed meanwhile, 'unauthenticated' when the session has
   * ended and 'not_found' when the application or the user is gone.
   */
  approve(request: AuthorizeRequest, session: AskedSession, context: RequestContext): Promise<{ location: string }> {
    return this.#authorizeService.approve(request, session, context)
  }

  /** The user said no. Throws 'conflict' when the application was changed meanwhile, or is gone. */
  deny(request: AuthorizeRequest): Promise<{ location: string }> {
    return this.#authorizeService.deny(request)
  }

  describe(request: AuthorizeRequest): AuthorizeDescription {
    return this.#authorizeService.describe(request)
  }

  /** POST /oauth/token/. Refusals are answers; rejects only for what is our fault. */
  token(input: TokenInput): Promise<TokenAnswer> {
    return this.#tokenService.token(input)
  }

  /** POST /oauth/token-revoke/. As `token`. */
  revoke(input: RevokeInput): Promise<TokenAnswer> {
    return this.#tokenService.revoke(input)
  }

  /** What a user has granted and not ended, newest first. */
  listGrants(userId: number): Promise<Grant[]> {
    return this.#options.store.grants.list(userId)
  }

  /** The user ends one. False when there is no such grant of theirs. */
  async revokeGrant(userId: number, grantId: number, context?: RequestContext): Promise<boolean> {
    const { store, audit } = this.#options
    if (!(await store.grants.revoke(userId, grantId, 'revoked_by_user'))) return false
    audit.write({ event: 'grant.revoked', userId, ...(context && { context }), detail: { grant: grantId } })
    return true
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

// OAuth 2.0: authorization, tokens, revocation, and the grants that users have given.

import { repeat } from '../../base/repeat.ts'
import { AuthorizeService } from './authorize-service.ts'
import { GrantService } from './grant-service.ts'
import type { OAuthOptions } from './oauth-options.ts'
import { TokenService } from './token-service.ts'

export type OAuth = {
  /** The authorization endpoint, as the pages use it. */
  readonly authorization: AuthorizeService
  /** The token and revocation endpoints. */
  readonly tokens: TokenService
  /** What users have granted. */
  readonly grants: GrantService
  /** Removes expired grants once an hour; ends when `signal` aborts. */
  run(signal: AbortSignal): Promise<void>
}

const cleaningIntervalMs = 3_600_000

export function createOAuth(options: OAuthOptions): OAuth {
  const { store, clock, deletionMs = () => clock.nowMs() } = options
  return {
    authorization: new AuthorizeService(options),
    tokens: new TokenService(options),
    grants: new GrantService(options),
    async run(signal) {
      const clean = () => store.grants.removeExpired(deletionMs())
      await repeat(clean, { clock, signal, intervalMs: cleaningIntervalMs })
    },
  }
}

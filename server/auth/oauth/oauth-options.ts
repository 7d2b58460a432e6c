// What OAuth needs from the rest of the server.

import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import type { OAuthPolicy } from '../../model/oauth/policy.ts'
import type { User } from '../../store/accounts/users.ts'
import type { Store } from '../../store/store.ts'
import type { RandomBytes } from '../checked-token.ts'
import type { Audit } from '../guard/audit.ts'
import type { Login } from '../guard/login.ts'
import type { RequestContext } from '../request-context.ts'

/** A refresh token was used twice, far enough apart that it was probably stolen. The grant has been ended. */
export type ReuseNotice = {
  readonly userId: number
  readonly appName: string
  readonly context: RequestContext
}

export type OAuthOptions = {
  readonly store: Pick<Store, 'applications' | 'grants' | 'users'>
  /** Verifies passwords for the password grant. */
  readonly login: Pick<Login, 'verify'>
  /** True if the user must set up a second factor first. */
  readonly isSecondFactorMissing: (user: User) => Promise<boolean>
  readonly audit: Pick<Audit, 'write'>
  readonly clock: Clock
  /** The time that decides which grants are removed; by default that of the clock. */
  readonly deletionMs?: () => number
  readonly log: Logger
  /** The public origin of the server, which is the issuer (RFC 8414). */
  readonly publicUrl: string
  readonly randomBytes: RandomBytes
  readonly policy: OAuthPolicy
  /** Must not throw. */
  readonly onReuse?: (notice: ReuseNotice) => void
}

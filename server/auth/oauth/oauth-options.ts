// What OAuth needs of the rest of the server.

import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import type { OAuthPolicy } from '../../model/oauth/policy.ts'
import type { User } from '../../store/accounts/users.ts'
import type { Store } from '../../store/store.ts'
import type { RandomBytes } from '../checked-token.ts'
import type { Audit } from '../guard/audit.ts'
import type { Login } from '../guard/login.ts'
import type { RequestContext } from '../request-context.ts'

/** A refresh token came twice, long enough apart that somebody else has it: the grant was ended, and its user should know. */
export type ReuseNotice = {
  readonly userId: number
  readonly appName: string
  readonly context: RequestContext
}

export type OAuthOptions = {
  readonly store: Pick<Store, 'applications' | 'grants' | 'users'>
  /** Checks passwords, for the password grant. */
  readonly login: Pick<Login, 'verify'>
  /** Whether this user has to set up a second factor before anything else. */
  readonly isSecondFactorMissing: (user: User) => Promise<boolean>
  readonly audit: Pick<Audit, 'write'>
  readonly clock: Clock
  readonly log: Logger
  /** The origin under which clients reach the server; it is the issuer (RFC 8414). */
  readonly publicUrl: string
  readonly randomBytes: RandomBytes
  readonly policy: OAuthPolicy
  /** Must not throw. */
  readonly onReuse?: (notice: ReuseNotice) => void
}

// Grants that users have given to applications, as users see and revoke them.

import type { Grant } from '../../store/accounts/grants.ts'
import type { RequestContext } from '../request-context.ts'
import type { OAuthOptions } from './oauth-options.ts'

export class GrantService {
  readonly #options: Pick<OAuthOptions, 'store' | 'audit'>

  constructor(options: Pick<OAuthOptions, 'store' | 'audit'>) {
    this.#options = options
  }

  /** The user's grants that are in force, newest first. */
  list(userId: number): Promise<Grant[]> {
    return this.#options.store.grants.list(userId)
  }

  /** Returns false if the user has no such grant. */
  async revoke(userId: number, grantId: number, context?: RequestContext): Promise<boolean> {
    const { store, audit } = this.#options
    if (!(await store.grants.revoke(userId, grantId, 'revoked_by_user'))) return false
    audit.write({ event: 'grant.revoked', userId, ...(context && { context }), detail: { grant: grantId } })
    return true
  }
}

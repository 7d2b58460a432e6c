// An application gives up what a user granted it (RFC 7009): either token ends the whole grant, so that the user is
// asked anew.

import type { Decision, TokenState } from './decision.ts'

/** Unknown, foreign and dead tokens are nothing to do, and the answer does not tell which. */
export function decideRevoke(token: TokenState | undefined, applicationId: number): Decision {
  const grant = token?.grant
  const isOwn = grant?.applicationId === applicationId && !grant.isEnded
  return {
    effects: isOwn
      ? [{ kind: 'revoke_grant', grantId: grant.id, userId: grant.userId, reason: 'revoked_by_application' }]
      : [],
    verdict: { kind: 'done' },
  }
}

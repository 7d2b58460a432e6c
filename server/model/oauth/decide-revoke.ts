// Decides on a revocation by an application (RFC 7009): either token ends the whole grant, so that the user is asked
// again.

import type { Decision, TokenState } from './decision.ts'

/** Nothing happens for unknown, foreign and expired tokens, and the response does not reveal which. */
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

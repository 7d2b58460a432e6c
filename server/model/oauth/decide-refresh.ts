// Decides on a refresh token (RFC 6749 section 6, RFC 9700 section 4.14.2). Each gives one new pair. If the response was
// lost, the same pair is returned again for a while. Once the new refresh token was used, or later, the old one can only
// come from somebody else, and the whole grant ends.

import { createPair, type Decision, issued, refuse, type TokenState } from './decision.ts'
import { OAuthError } from './oauth-error.ts'
import type { OAuthPolicy } from './policy.ts'
import { narrowScopes } from './scope.ts'

export type RefreshRequest = {
  readonly applicationId: number
  readonly scope: string | undefined
  /** The response to the same request is still stored, and was made with the same Idempotency-Key, or both without. */
  readonly hasReply: boolean
}

/** `token`: undefined if it was never issued. */
export function decideRefresh(
  token: TokenState | undefined,
  request: RefreshRequest,
  nowMs: number,
  policy: OAuthPolicy,
): Decision {
  if (token?.kind !== 'refresh' || token.grant.applicationId !== request.applicationId) return refuse('invalid_grant')
  const { grant } = token
  if (grant.isEnded) return refuse('invalid_grant')
  if (token.usedAtMs !== undefined) return decideReplay(token, token.usedAtMs, request, nowMs, policy)
  const isOver = nowMs >= token.expiresAtMs || nowMs >= (grant.absoluteExpiresAtMs ?? Number.POSITIVE_INFINITY)
  if (isOver || token.generation !== grant.generation) return refuse('invalid_grant')

  let scopes: readonly string[]
  try {
    scopes = narrowScopes(request.scope, grant.scopes)
  } catch (error) {
    if (error instanceof OAuthError) return refuse(error.code, error.description)
    throw error
  }
  const pair = createPair(scopes, grant.absoluteExpiresAtMs, nowMs, policy)
  return {
    effects: [{ kind: 'rotate_grant', grantId: grant.id, fromGeneration: grant.generation, pair }],
    verdict: issued(grant.userId, pair, nowMs),
  }
}

function decideReplay(
  { generation, grant }: TokenState,
  usedAtMs: number,
  { hasReply }: RefreshRequest,
  nowMs: number,
  policy: OAuthPolicy,
): Decision {
  const isSuccessorUnused = grant.generation === generation + 1
  if (hasReply && isSuccessorUnused && nowMs - usedAtMs < policy.replyMs)
    return { effects: [], verdict: { kind: 'repeated' } }
  if (isSuccessorUnused && nowMs - usedAtMs < policy.reuseLeewayMs) return refuse('invalid_grant')
  const { id: grantId, userId } = grant
  return refuse('invalid_grant', undefined, [{ kind: 'revoke_grant', grantId, userId, reason: 'refresh_reused' }])
}

// Decides on a new grant, for a valid password or a code (RFC 6749 sections 4.1 and 4.3, RFC 7636 section 4.6).

import { type CodeState, createPair, type Decision, type Effect, issued, refuse } from './decision.ts'
import type { OAuthPolicy } from './policy.ts'

export type NewLogin = {
  readonly userId: number
  readonly applicationId: number
  readonly scopes: readonly string[]
  readonly sessionId?: string | undefined
}

export function decideLogin(
  { userId, applicationId, scopes, sessionId }: NewLogin,
  nowMs: number,
  policy: OAuthPolicy,
): Decision {
  const login = { userId, applicationId, scopes, ...(sessionId !== undefined && { sessionId }) }
  const absoluteExpiresAtMs = policy.grantMs === undefined ? undefined : nowMs + policy.grantMs
  const pair = createPair(login.scopes, absoluteExpiresAtMs, nowMs, policy)
  return {
    effects: [{ kind: 'open_grant', ...login, absoluteExpiresAtMs, pair }],
    verdict: issued(login.userId, pair, nowMs),
  }
}

export type CodeExchange = {
  readonly applicationId: number
  readonly isConfidential: boolean
  readonly redirectUri: string | undefined
  /** The S256 challenge of the verifier that was sent; undefined if none was sent. */
  readonly answeredChallenge: string | undefined
}

/** `code`: undefined if it was never issued. */
export function decideCodeExchange(
  code: CodeState | undefined,
  exchange: CodeExchange,
  nowMs: number,
  policy: OAuthPolicy,
): Decision {
  // A code of another application is useless to it and stays valid for the right one.
  if (!code || code.applicationId !== exchange.applicationId) return refuse('invalid_grant')
  const { userId, grantId } = code
  if (code.usedAtMs !== undefined) {
    const revoke: Effect[] =
      grantId === undefined ? [] : [{ kind: 'revoke_grant', grantId, userId, reason: 'code_reused' }]
    return refuse('invalid_grant', undefined, revoke)
  }
  const consume: Effect = { kind: 'consume_code' }
  if (nowMs >= code.expiresAtMs || code.isUserDisabled) return refuse('invalid_grant', undefined, [consume])
  if (code.redirectUri !== exchange.redirectUri) return refuse('invalid_grant', 'Mismatching redirect URI.', [consume])
  const isProven = code.codeChallenge === exchange.answeredChallenge
  const isBound = exchange.isConfidential || code.codeChallenge !== undefined
  if (!isProven || !isBound) return refuse('invalid_grant', undefined, [consume])
  const { effects, verdict } = decideLogin(code, nowMs, policy)
  return { effects: [consume, ...effects], verdict }
}

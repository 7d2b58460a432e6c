// A decision on a request: what changes and what is returned. Nothing happens here: the store applies the effects, all
// or none, and only if what they were decided on still holds; the caller generates the tokens and writes the
// response.

import type { OAuthErrorCode } from './oauth-error.ts'
import type { OAuthPolicy } from './policy.ts'

/** A sign-in through an application. */
export type GrantState = {
  readonly id: number
  readonly userId: number
  readonly applicationId: number
  readonly scopes: readonly string[]
  /** Increases with each refresh; only tokens of this generation are valid. */
  readonly generation: number
  readonly absoluteExpiresAtMs: number | undefined
  /** Revoked, or the account is disabled. */
  readonly isEnded: boolean
}

export type TokenState = {
  readonly kind: 'access' | 'refresh'
  readonly generation: number
  readonly expiresAtMs: number
  /** When it was exchanged for the next one; undefined for never. */
  readonly usedAtMs: number | undefined
  readonly grant: GrantState
}

export type CodeState = {
  readonly applicationId: number
  readonly userId: number
  readonly redirectUri: string
  readonly scopes: readonly string[]
  readonly codeChallenge: string | undefined
  readonly expiresAtMs: number
  readonly usedAtMs: number | undefined
  /** The grant that it was exchanged for, while that exists. */
  readonly grantId: number | undefined
  /** The grant ends with this browser session. */
  readonly sessionId?: string | undefined
  readonly isUserDisabled: boolean
}

/** A new access token and a new refresh token. */
export type Pair = {
  readonly accessScopes: readonly string[]
  readonly accessExpiresAtMs: number
  readonly refreshExpiresAtMs: number
}

export type RevokeReason = 'refresh_reused' | 'code_reused' | 'revoked_by_application'

export type Effect =
  /** Marks the code as used. Fails if it was used before. */
  | { readonly kind: 'consume_code' }
  | {
      readonly kind: 'open_grant'
      readonly userId: number
      readonly applicationId: number
      readonly scopes: readonly string[]
      readonly absoluteExpiresAtMs: number | undefined
      readonly sessionId?: string | undefined
      readonly pair: Pair
    }
  /** Invalidates all earlier tokens of the grant. Fails if the grant has another generation or was revoked. */
  | { readonly kind: 'rotate_grant'; readonly grantId: number; readonly fromGeneration: number; readonly pair: Pair }
  | { readonly kind: 'revoke_grant'; readonly grantId: number; readonly userId: number; readonly reason: RevokeReason }

export type Verdict =
  | {
      readonly kind: 'issued'
      readonly userId: number
      readonly scopes: readonly string[]
      readonly expiresInSeconds: number
    }
  /** The previous response is returned again. */
  | { readonly kind: 'repeated' }
  | { readonly kind: 'refused'; readonly error: OAuthErrorCode; readonly description?: string }
  /** For a revocation: done, or nothing to do. */
  | { readonly kind: 'done' }

export type Decision = { readonly effects: readonly Effect[]; readonly verdict: Verdict }

export function refuse(error: OAuthErrorCode, description?: string, effects: readonly Effect[] = []): Decision {
  return { effects, verdict: { kind: 'refused', error, ...(description !== undefined && { description }) } }
}

/** Lifetimes of a pair issued now; none exceeds that of the grant. */
export function createPair(
  accessScopes: readonly string[],
  absoluteExpiresAtMs: number | undefined,
  nowMs: number,
  policy: OAuthPolicy,
): Pair {
  const last = absoluteExpiresAtMs ?? Number.POSITIVE_INFINITY
  return {
    accessScopes,
    accessExpiresAtMs: Math.min(nowMs + policy.accessTokenMs, last),
    refreshExpiresAtMs: Math.min(nowMs + policy.refreshTokenMs, last),
  }
}

export function issued(userId: number, { accessScopes, accessExpiresAtMs }: Pair, nowMs: number): Verdict {
  const expiresInSeconds = Math.floor((accessExpiresAtMs - nowMs) / 1000)
  return { kind: 'issued', userId, scopes: accessScopes, expiresInSeconds }
}

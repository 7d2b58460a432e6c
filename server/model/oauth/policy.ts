// How long things last. Set once for the whole server.

export type OAuthPolicy = {
  readonly accessTokenMs: number
  /** Since it was issued; each refresh begins anew. */
  readonly refreshTokenMs: number
  /** Since the user signed in, however often it is refreshed; undefined for no end. */
  readonly grantMs: number | undefined
  readonly codeMs: number
  /** A used refresh token that comes again within this time is only refused: two tabs, not a thief. */
  readonly reuseLeewayMs: number
  /** How long the answer to a refresh with an Idempotency-Key is given again. */
  readonly replyMs: number
  /** Whether the password grant is on at all. */
  readonly allowsPassword: boolean
}

const secondMs = 1000
const dayMs = 86_400 * secondMs

export const defaultPolicy: OAuthPolicy = {
  accessTokenMs: 36_000 * secondMs,
  refreshTokenMs: 30 * dayMs,
  grantMs: 365 * dayMs,
  codeMs: 60 * secondMs,
  reuseLeewayMs: 10 * secondMs,
  replyMs: 60 * secondMs,
  allowsPassword: true,
}

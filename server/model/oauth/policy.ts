// Lifetimes and options of OAuth, set once for the whole server.

export type OAuthPolicy = {
  readonly accessTokenMs: number
  /** Since it was issued; each refresh starts again. */
  readonly refreshTokenMs: number
  /** Since the user signed in, however often it is refreshed; undefined for no limit. */
  readonly grantMs: number | undefined
  readonly codeMs: number
  /**
   * A used refresh token that is sent again within this time, with another Idempotency-Key, is only refused. With 0, every
   * token is strictly for one use: the response is repeated only for an Idempotency-Key.
   */
  readonly reuseLeewayMs: number
  /** How long the response to a refresh is repeated while the new refresh token is unused. */
  readonly replyMs: number
  /** True if the password grant is enabled. */
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

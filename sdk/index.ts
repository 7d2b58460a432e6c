// What a program that uses the SDK gets.

export { type Auth, personalToken } from './auth.ts'
export type { Body, Call, CallOptions, Input, Query, Result, RetryOptions } from './call.ts'
export { type Client, type ClientOptions, createClient } from './client.ts'
export { NightjarError } from './error.ts'
export type * from './generated/objects.ts'
export { type OperationName, type Operations, operations } from './generated/operations.ts'
export type { Fetch, HttpOptions } from './http.ts'
export { findStreamUrl } from './media.ts'
export {
  type AuthorizeRequest,
  type AuthorizeStart,
  createAuthorizeUrl,
  exchangeCode,
  logInWithPassword,
  type OAuthApp,
  readAuthorizationCode,
  refreshTokens,
  revokeToken,
  type TokenPair,
} from './oauth.ts'
export { Session, type SessionOptions } from './session.ts'

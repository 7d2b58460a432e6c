// The authenticated caller of a request.

import { AppError } from '../base/error.ts'

/**
 * The credential: a personal access token, or an access token of a sign-in through an application. Signed URLs and open
 * streams end with it.
 */
export type Credential =
  | { readonly kind: 'personal' /** Of `store.tokens`. */; readonly id: number }
  | { readonly kind: 'grant' /** Of `store.grants`; the same through all refreshes. */; readonly id: number }

export type Caller = {
  readonly userId: number
  /**
   * The account's version when the credentials were looked up. Changes are refused if the version has increased since.
   */
  readonly credentialsVersion: number
  /** All scopes that the token covers (`expandScopes`); check them with `covers` in model/access.ts. */
  readonly scopes: ReadonlySet<string>
  readonly credential: Credential
  /** The id in `store.applications`; missing for a personal access token. */
  readonly applicationId?: number
  /**
   * True for the dashboard within a few minutes after the user entered the password, and the second factor if there is
   * one.
   */
  readonly hasGivenPassword?: true
}

/** Credentials are missing or invalid. The response says which, but not what is wrong with a token. */
export class UnauthenticatedError extends AppError {
  /** The kind of token that was sent; for a bearer token the response contains `error="invalid_token"`. */
  readonly sentToken: 'bearer' | 'personal' | undefined

  constructor(message: string, sentToken?: 'bearer' | 'personal') {
    super('unauthenticated', message)
    this.sentToken = sentToken
  }
}

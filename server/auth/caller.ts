// Who is calling, once the credentials have proved it.

import { AppError } from '../base/error.ts'

/** What was sent: a personal token, or an access token of a login through an app. Ends with it: signed URLs, open streams. */
export type Credential =
  | { readonly kind: 'personal' /** Of `store.tokens`. */; readonly id: number }
  | { readonly kind: 'grant' /** Of `store.grants`; the same through all refreshes. */; readonly id: number }

export type Caller = {
  readonly userId: number
  /** Of the account when the credentials were looked up: what is made for the caller is refused when it has grown since. */
  readonly credentialsVersion: number
  /** Everything the token covers (`expandScopes`); ask with `covers` of model/access.ts. */
  readonly scopes: ReadonlySet<string>
  readonly credential: Credential
  /** Of `store.applications`; absent for a personal token. */
  readonly applicationId?: number
  /** A person who gave the password, and a second factor if there is one, some minutes ago: the dashboard, with what it is granted for accounts. */
  readonly hasGivenPassword?: true
}

/** No credentials, or bad ones. The answer never tells which, except that it names a bad bearer token as RFC 6750 3.1 asks. */
export class UnauthenticatedError extends AppError {
  /** True when a bearer token was sent: the answer carries `error="invalid_token"`. */
  readonly hasBearerToken: boolean

  constructor(message: string, { hasBearerToken = false }: { hasBearerToken?: boolean } = {}) {
    super('unauthenticated', message)
    this.hasBearerToken = hasBearerToken
  }
}

// Who is calling, once the credentials have proved it.

import { AppError } from '../base/error.ts'

export type Caller = {
  readonly userId: number
  /** Everything the token covers (`expandScopes`); ask with `covers` of model/access.ts. */
  readonly scopes: ReadonlySet<string>
  readonly tokenId: number
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

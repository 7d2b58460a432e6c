// Errors of OAuth 2.0 as clients read them (RFC 6749 sections 4.1.2.1 and 5.2). The descriptions are those that
// programs written for other servers know; where there is none, the code says it all.

export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'unsupported_response_type'
  | 'access_denied'
  | 'request_not_supported'
  | 'request_uri_not_supported'

/** A request that is refused and changes nothing. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError'
  readonly code: OAuthErrorCode
  readonly description: string | undefined

  /** `description`: printable ASCII without `"` and `\`, and nothing of what was sent. */
  constructor(code: OAuthErrorCode, description?: string) {
    super(description ?? code)
    this.code = code
    this.description = description
  }
}

// Errors of OAuth 2.0 (RFC 6749 sections 4.1.2.1 and 5.2). The descriptions are those that programs written for other
// servers know; without one, the code says it all.

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

/** A refused request, which changes nothing. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError'
  readonly code: OAuthErrorCode
  readonly description: string | undefined

  /** `description`: printable ASCII without `"` and `\`, and nothing from the request. */
  constructor(code: OAuthErrorCode, description?: string) {
    super(description ?? code)
    this.code = code
    this.description = description
  }
}

// Parameters and results of the OAuth services, for the pages, the API and the command line.

import type { RequestContext } from '../request-context.ts'

/** What an application requests from a user. Plain JSON that is kept while the user signs in and decides. */
export type AuthorizeRequest = {
  readonly clientId: string
  readonly appName: string
  readonly ownerName: string
  readonly redirectUri: string
  readonly scopes: readonly string[]
  /** As sent; missing if none was sent. */
  readonly state?: string
  /** RFC 7636, method S256. */
  readonly codeChallenge?: string
  /** True for the dashboard: approved without consent, and the grant ends with the session. */
  readonly isBuiltIn?: true
}

/** The session in which the user was asked, as it was at the start of the request. */
export type AskedSession = { readonly id: string; readonly userId: number; readonly credentialsVersion: number }

export type AuthorizeCheck =
  /**
   * The application or its redirect URI is invalid. The response is 400 before sign-in, never a redirect. `error` is
   * 'invalid_request'.
   */
  | { readonly kind: 'refused'; readonly error: string; readonly detail: string }
  /** Another error, which is reported to the application after the user has signed in. */
  | { readonly kind: 'redirect_error'; readonly location: string }
  | { readonly kind: 'ask'; readonly request: AuthorizeRequest }

/** The content of the consent page. */
export type AuthorizeDescription = {
  readonly appName: string
  readonly ownerName: string
  /** The host of the redirect URI, or its scheme if an installed application has its own. */
  readonly redirectHost: string
  readonly scopes: readonly string[]
  /** The lifetime of a grant that the application does not use, and the maximum lifetime. */
  readonly idleDays: number
  readonly mostDays: number | undefined
}

export type TokenInput = {
  /** Names and values as sent, including repeated ones. */
  readonly form: readonly (readonly [name: string, value: string])[]
  /** The Authorization header, for clients that send their secret with HTTP Basic. */
  readonly authorization?: string | undefined
  readonly context: RequestContext
  readonly idempotencyKey?: string | undefined
}

export type RevokeInput = Omit<TokenInput, 'idempotencyKey'>

/** `body` is JSON or empty. */
export type TokenAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

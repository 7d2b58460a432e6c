// What goes in and out of the OAuth class, for those around it: the pages, the API, the command line.

import type { RequestContext } from '../request-context.ts'

/** What an application asks a user for. Plain JSON: kept in the session while the user signs in and decides. */
export type AuthorizeRequest = {
  readonly clientId: string
  readonly appName: string
  readonly ownerName: string
  readonly redirectUri: string
  readonly scopes: readonly string[]
  /** As sent; absent when none was. */
  readonly state?: string
  /** RFC 7636, method S256. */
  readonly codeChallenge?: string
  /** The server's own: approved without asking, under the session it will end with. */
  readonly isBuiltIn?: true
}

/** The session in which a user was asked, as it was found at the beginning of the request. */
export type AskedSession = { readonly id: string; readonly userId: number; readonly credentialsVersion: number }

export type AuthorizeCheck =
  /** The application or its address is wrong: 400 before signing in, and never a redirect. `error` is 'invalid_request'. */
  | { readonly kind: 'refused'; readonly error: string; readonly detail: string }
  /** Anything else is wrong: sent back to the application, but only once the user is signed in. */
  | { readonly kind: 'redirect_error'; readonly location: string }
  | { readonly kind: 'ask'; readonly request: AuthorizeRequest }

/** What a user is asked. */
export type AuthorizeDescription = {
  readonly appName: string
  readonly ownerName: string
  /** Host of the redirect URI, or its scheme where an installed program has a scheme of its own. */
  readonly redirectHost: string
  readonly scopes: readonly string[]
  /** How long it lasts when the application does not use it, and at most. */
  readonly idleDays: number
  readonly mostDays: number | undefined
}

export type TokenInput = {
  /** Names and values as sent, repeated ones included. */
  readonly form: readonly (readonly [name: string, value: string])[]
  /** The header, for clients that send their secret by Basic. */
  readonly authorization?: string | undefined
  readonly context: RequestContext
  readonly idempotencyKey?: string | undefined
}

export type RevokeInput = Omit<TokenInput, 'idempotencyKey'>

/** `body` is JSON, or empty. */
export type TokenAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

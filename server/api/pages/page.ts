// What a page is: a path, who may see it, and what it answers. The routes, headers, cookies and checks around it are in
// page-routes.ts and the same for all.

import type { RequestContext } from '../../auth/request-context.ts'
import type { Session } from '../../auth/sessions/sessions.ts'
import type { User } from '../../store/accounts/users.ts'
import type { Form } from './form.ts'
import type { Html } from './html.ts'
import type { Texts } from './texts/texts.ts'
import type { Visit } from './visit.ts'

export type PageCall = {
  readonly context: RequestContext
  /** Path and query as they were asked for. */
  readonly url: string
  readonly query: URLSearchParams
  readonly cookieHeader: string | undefined
  /** Who is signed in; undefined for nobody. */
  readonly session: Session | undefined
  readonly visit: Visit
  readonly texts: Texts
  /** False for programs: they are answered in JSON where a person would see a page. */
  readonly wantsHtml: boolean
}

/** A call of somebody who is signed in. */
export type UserCall = PageCall & { readonly session: Session; readonly user: User }

export type PageAnswer =
  | ShownPage
  | Redirect
  | { readonly kind: 'json'; readonly status: number; readonly body: unknown }

export type ShownPage = {
  readonly kind: 'page'
  /** Default 200. */
  readonly status?: number
  /** Of the browser's tab and in the heading. */
  readonly title: string
  readonly content: Html
  /** This very object is the answer to everybody who reads this language: it is written and compressed once. */
  readonly isShared?: true
  /** To be read, on a whole screen, rather than filled in. */
  readonly isWide?: true
  /** Most pages have none. */
  readonly script?: 'passkey'
  /** Where a form of this page may lead to in the end, besides this server; see `writePolicy`. */
  readonly leadsTo?: string | undefined
  readonly retryAfterSeconds?: number | undefined
  /** Set-Cookie. */
  readonly cookies?: readonly string[]
}

export type Redirect = {
  readonly kind: 'redirect'
  readonly location: string
  /** Set-Cookie. */
  readonly cookies?: readonly string[]
}

export type Page = {
  /** With a slash at its end. */
  readonly path: string
  /** For owners too who have to set up a second factor before anything else. */
  readonly isOpenWithoutSecondFactor?: true
} & (
  | {
      readonly audience: 'anyone'
      readonly get: (call: PageCall) => Promise<PageAnswer>
      /** The form carries the visit's token; a page answers itself when it does not. */
      readonly post?: (call: PageCall, form: Form) => Promise<PageAnswer>
    }
  | {
      /** Anybody else signs in first. */
      readonly audience: 'user'
      /** Only soon after the password was given, and a second factor where there is one; otherwise it is asked for first. */
      readonly asksPassword?: true
      readonly get: (call: UserCall) => Promise<PageAnswer>
      /** The form carries the session's token. */
      readonly post?: (call: UserCall, form: Form) => Promise<PageAnswer>
    }
  | {
      /** Anybody may look; only a user may act. */
      readonly audience: 'anyone, then user'
      readonly get: (call: PageCall) => Promise<PageAnswer>
      readonly post: (call: UserCall, form: Form) => Promise<PageAnswer>
    }
)

/** After a GET the browser is sent on with 302, after a POST with 303: never so that a form, with its password, is sent on too. */
export function redirect(location: string, cookies: readonly string[] = []): Redirect {
  return { kind: 'redirect', location, cookies }
}

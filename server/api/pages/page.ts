// The definition of a page: its path, who may open it, and its handlers. page-routes.ts adds the routes, headers,
// cookies and checks.

import type { RequestContext } from '../../auth/request-context.ts'
import type { Session } from '../../auth/sessions/sessions.ts'
import type { User } from '../../store/accounts/users.ts'
import type { Form } from './form.ts'
import type { Html } from './html.ts'
import type { PageAssets } from './page-assets.ts'
import type { Texts } from './texts/texts.ts'
import type { Visit } from './visit.ts'

export type PageCall = {
  readonly context: RequestContext
  /** The requested path and query. */
  readonly url: string
  readonly query: URLSearchParams
  readonly cookieHeader: string | undefined
  /** Undefined if nobody is signed in. */
  readonly session: Session | undefined
  readonly visit: Visit
  readonly texts: Texts
  /** False for programs, which get JSON instead of an error page. */
  readonly wantsHtml: boolean
}

/** A request from a signed-in user. */
export type UserCall = PageCall & { readonly session: Session; readonly user: User }

export type PageAnswer =
  | ShownPage
  | Redirect
  | { readonly kind: 'json'; readonly status: number; readonly body: unknown }

export type ShownPage = {
  readonly kind: 'page'
  /** 200 by default. */
  readonly status?: number
  /** Shown as the heading and in the browser tab. */
  readonly title: string
  readonly content: Html
  /** This object is the answer to everyone who uses this language. It is rendered and compressed once. */
  readonly isShared?: true
  /** For long pages that are read: the content uses the whole width. */
  readonly isWide?: true
  readonly script?: keyof PageAssets['scripts']
  /** True if a form of this page leads to an application in the end; see `writePolicy`. */
  readonly leadsOut?: boolean | undefined
  readonly retryAfterSeconds?: number | undefined
  /** Values of Set-Cookie headers. */
  readonly cookies?: readonly string[]
}

export type Redirect = {
  readonly kind: 'redirect'
  readonly location: string
  /** Values of Set-Cookie headers. */
  readonly cookies?: readonly string[]
}

export type Page = {
  /** With a trailing slash. */
  readonly path: string
  /** True if owners may open the page before they set up a required second factor. */
  readonly isOpenWithoutSecondFactor?: true
  /** True if other sites may send forms here. The page must not trust them, nor change anything. */
  readonly takesForeignForms?: true
  /** True if the URL works once: whoever opens it again gets the same answer for some seconds, as with forms. */
  readonly isRepeated?: true
} & (
  | {
      readonly audience: 'anyone'
      readonly get: (call: PageCall) => Promise<PageAnswer>
      /** The form contains the form token of the visit. The page itself must check it. */
      readonly post?: (call: PageCall, form: Form) => Promise<PageAnswer>
    }
  | {
      /** Others are redirected to sign-in. */
      readonly audience: 'user'
      /** The page requires a recent confirmation of the password, and of the second factor if the account has one. */
      readonly asksPassword?: true
      readonly get: (call: UserCall) => Promise<PageAnswer>
      /** The form contains the form token of the session, which page-routes.ts checks. */
      readonly post?: (call: UserCall, form: Form) => Promise<PageAnswer>
    }
  | {
      /** Everyone may open the page. Only signed-in users may submit its form. */
      readonly audience: 'anyone, then user'
      readonly get: (call: PageCall) => Promise<PageAnswer>
      readonly post: (call: UserCall, form: Form) => Promise<PageAnswer>
    }
)

/** Redirects with 302 after GET and 303 after POST, so that a form and its password are never sent again. */
export function redirect(location: string, cookies: readonly string[] = []): Redirect {
  return { kind: 'redirect', location, cookies }
}

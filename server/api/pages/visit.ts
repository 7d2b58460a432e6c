// A browser before sign-in. One cookie identifies it, so that forms of other sites are rejected and the server finds
// its pending items. The cookie is created when a page first needs it.

import { findCookie, writeCookie } from '../../auth/sessions/cookie.ts'
import {
  createSecretValue,
  formTokenOf,
  hashSecretValue,
  isFormToken,
  looksSecret,
} from '../../auth/sessions/secret-value.ts'

const cookieName = 'visit'

export class Visit {
  #value: string | undefined
  #isNew = false

  /** `cookieHeader` is the Cookie header of the request. */
  constructor(cookieHeader: string | undefined) {
    const value = findCookie(cookieHeader, cookieName)
    if (value !== undefined && looksSecret(value)) this.#value = value
  }

  /** The owner of this browser's items; see `PendingItems`. */
  get owner(): string {
    return `visit ${Buffer.from(hashSecretValue(this.#get())).toString('base64url')}`
  }

  get formToken(): string {
    return formTokenOf(this.#get())
  }

  isFormToken(token: string): boolean {
    return this.#value !== undefined && isFormToken(this.#value, token)
  }

  /** The Set-Cookie value if this request started the visit. */
  get newCookie(): string | undefined {
    return this.#isNew ? writeCookie(cookieName, this.#value!) : undefined
  }

  #get(): string {
    if (this.#value === undefined) {
      this.#value = createSecretValue()
      this.#isNew = true
    }
    return this.#value
  }
}

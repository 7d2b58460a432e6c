// A browser before anybody signs in with it: one cookie, so that forms shown to it are told from forms another site wrote, and so
// that the server finds again where it wanted to go. Made when a page first needs it.

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

  /** `cookieHeader`: as the browser sent it. */
  constructor(cookieHeader: string | undefined) {
    const value = findCookie(cookieHeader, cookieName)
    if (value !== undefined && looksSecret(value)) this.#value = value
  }

  /** Whose things are kept; see `PendingItems`. */
  get owner(): string {
    return `visit ${Buffer.from(hashSecretValue(this.#get())).toString('base64url')}`
  }

  get formToken(): string {
    return formTokenOf(this.#get())
  }

  isFormToken(token: string): boolean {
    return this.#value !== undefined && isFormToken(this.#value, token)
  }

  /** Set-Cookie for a visit that began with this request. */
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

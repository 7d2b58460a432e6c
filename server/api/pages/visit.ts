// A browser before sign-in. A cookie identifies it, so that forms of other sites are rejected and the server finds its
// pending items. The cookie is created when a page first needs it. Tabs that a new browser opens together get one each,
// under different names, so that none replaces another: a browser can have several visits.

import { listCookies, writeCookie } from '../../auth/sessions/cookie.ts'
import {
  createSecretValue,
  formTokenOf,
  hashSecretValue,
  isFormToken,
  looksSecret,
} from '../../auth/sessions/secret-value.ts'

const cookieName = 'visit'
const maxVisits = 20

export class Visit {
  /** The one that this request belongs to comes first. */
  #values: readonly string[]
  #isNew = false

  /** `cookieHeader` is the Cookie header of the request. */
  constructor(cookieHeader: string | undefined) {
    this.#values = listCookies(cookieHeader, cookieName).filter(looksSecret).slice(0, maxVisits)
  }

  /** The owner of this browser's items; see `PendingItems`. */
  get owner(): string {
    return ownerOf(this.#get())
  }

  /** All owners of items of this browser, the present one first. */
  get owners(): readonly string[] {
    return this.#values.map(ownerOf)
  }

  get formToken(): string {
    return formTokenOf(this.#get())
  }

  /** If it is one of this browser, the request belongs to the visit of the form. */
  isFormToken(token: string): boolean {
    return this.#choose((value) => isFormToken(value, token) || undefined) === true
  }

  /** Looks for an item in all visits of this browser. The request belongs to the one that has it. */
  find<T>(find: (owner: string) => T | undefined): T | undefined {
    return this.#choose((value) => find(ownerOf(value)))
  }

  /** The Set-Cookie value if this request started the visit. */
  get newCookie(): string | undefined {
    const [value] = this.#values
    return this.#isNew ? writeCookie(`${cookieName}-${value!.slice(0, 8)}`, value!) : undefined
  }

  #choose<T>(find: (value: string) => T | undefined): T | undefined {
    for (const value of this.#values) {
      const found = find(value)
      if (found === undefined) continue
      this.#values = [value, ...this.#values.filter((other) => other !== value)]
      return found
    }
    return undefined
  }

  #get(): string {
    if (this.#values.length === 0) {
      this.#values = [createSecretValue()]
      this.#isNew = true
    }
    return this.#values[0]!
  }
}

function ownerOf(value: string): string {
  return `visit ${Buffer.from(hashSecretValue(value)).toString('base64url')}`
}

// Sign-ins that were started in a browser and are now at a provider. The browser keeps them in a sealed cookie that is
// useless in other browsers. The server remembers only which ones have returned, so that each is used once.

import type { Clock } from '../../base/clock.ts'
import type { UsedValues } from '../../store/accounts/used-values.ts'
import { findCookie, writeCookie } from '../sessions/cookie.ts'
import { SealedValues } from '../sessions/sealed-values.ts'
import type { Challenge } from './provider-client.ts'

/**
 * Why the browser was sent to the provider: to sign in, to link the identity to the account, or to confirm the user's
 * presence.
 */
export type Purpose = 'sign_in' | 'link' | 'confirm'

/** The path to return to on this server. For an application, also its name and its redirect URI. */
export type Destination = {
  readonly path: string
  readonly appName?: string | undefined
  readonly leadsOut?: boolean | undefined
}

export type BegunSignIn = Challenge &
  Destination & {
    readonly providerId: string
    readonly purpose: Purpose
    /** The session of the user, if the purpose concerns an account. */
    readonly sessionId?: string | undefined
    readonly begunAtMs: number
  }

/** The browser: the owner of its visit and of all its visits, and its cookies. */
export type BegunBrowser = {
  readonly owner: string
  readonly owners: readonly string[]
  readonly cookieHeader: string | undefined
}

const cookieName = 'provider'
export const signInLifetimeMs = 10 * 60_000
/** In different tabs. */
const maxAtOnce = 3
/** The maximum length of a cookie in browsers, including its name and attributes. */
const maxLength = 3800

export class BegunSignIns {
  readonly #clock: Pick<Clock, 'nowMs'>
  readonly #sealed: SealedValues<{ readonly list: readonly BegunSignIn[] }>
  readonly #used: Pick<UsedValues, 'use'>

  /** `key` has 32 bytes and is used for nothing else. */
  constructor(key: Uint8Array, clock: Pick<Clock, 'nowMs'>, used: Pick<UsedValues, 'use'>) {
    this.#clock = clock
    this.#used = used
    this.#sealed = new SealedValues({ key, clock, lifetimeMs: signInLifetimeMs, maxLength })
  }

  /** Returns a cookie with one more sign-in; the oldest are dropped. */
  add(browser: BegunBrowser, begun: BegunSignIn): string {
    const { owner } = browser
    const list = [...this.#read(browser), begun]
    for (let from = Math.max(0, list.length - maxAtOnce); from < list.length; from++) {
      const value = this.#sealed.seal(owner, { list: list.slice(from) })
      if (value !== undefined) return writeCookie(cookieName, value, { maxAgeSeconds: signInLifetimeMs / 1000 })
    }
    // Only the path to return to can make it this long.
    return this.add({ ...browser, cookieHeader: undefined }, { ...begun, path: '/', appName: undefined })
  }

  /**
   * Returns the sign-in that belongs to a response, once. Returns undefined if it was started in another browser or for
   * another provider, has expired or was already used. `cookie` is the new value of the cookie.
   */
  async take(
    browser: BegunBrowser,
    { providerId, state }: { readonly providerId: string; readonly state: string },
  ): Promise<{ readonly begun: BegunSignIn; readonly cookie: string } | undefined> {
    const list = this.#read(browser)
    const begun = list.find((each) => each.state === state && each.providerId === providerId)
    const untilMs = this.#clock.nowMs() + signInLifetimeMs
    if (!begun || !(await this.#used.use({ value: `provider ${state}`, untilMs }))) return undefined
    const rest = list.filter((each) => each !== begun)
    const value = rest.length > 0 ? this.#sealed.seal(browser.owner, { list: rest }) : undefined
    return {
      begun,
      cookie: writeCookie(cookieName, value ?? '', { maxAgeSeconds: value ? signInLifetimeMs / 1000 : 0 }),
    }
  }

  #read({ owners, cookieHeader }: BegunBrowser): readonly BegunSignIn[] {
    const value = findCookie(cookieHeader, cookieName)
    const { list = [] } = (value && this.#sealed.open(owners, value)) || {}
    // Each has its own expiry, because the cookie is sealed again with the next one.
    return list.filter(({ begunAtMs }) => this.#clock.nowMs() - begunAtMs < signInLifetimeMs)
  }
}

// Sign-ins that were begun in a browser and are at a provider now. The browser keeps them, in a cookie that it can neither read nor change
// and that is worth nothing in another one; the server keeps only which have come back, so that each does so once.

import { createHash } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { findCookie, writeCookie } from '../sessions/cookie.ts'
import { SealedValues } from '../sessions/sealed-values.ts'
import type { Challenge } from './provider-client.ts'

/** What somebody went to the provider for: to sign in; to let that person sign in to their account; to prove to be there. */
export type Purpose = 'sign_in' | 'link' | 'confirm'

/** Where to go on, on this server; and for an application, its name and the address it leads back to in the end. */
export type Destination = {
  readonly path: string
  readonly appName?: string | undefined
  readonly leadsTo?: string | undefined
}

export type BegunSignIn = Challenge &
  Destination & {
    readonly providerId: string
    readonly purpose: Purpose
    /** Of whoever was signed in, where the purpose is about an account. */
    readonly sessionId?: string | undefined
    readonly begunAtMs: number
  }

const cookieName = 'provider'
export const signInLifetimeMs = 10 * 60_000
/** In different tabs. */
const maxAtOnce = 3
/** Browsers keep no longer cookie, its name and attributes included. */
const maxLength = 3800
/** Digests of those that came back. */
const maxUsed = 10_000

export class BegunSignIns {
  readonly #clock: Pick<Clock, 'nowMs'>
  readonly #sealed: SealedValues<{ readonly list: readonly BegunSignIn[] }>
  /** Until when each could come again, oldest first. */
  readonly #used = new Map<string, number>()

  /** `key`: 32 bytes, for this purpose alone. */
  constructor(key: Uint8Array, clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock
    this.#sealed = new SealedValues({ key, clock, lifetimeMs: signInLifetimeMs, maxLength })
  }

  /** The cookie with one more; the oldest go. `owner`: the browser's visit. */
  add(owner: string, cookieHeader: string | undefined, begun: BegunSignIn): string {
    const list = [...this.#read(owner, cookieHeader), begun]
    for (let from = Math.max(0, list.length - maxAtOnce); from < list.length; from++) {
      const value = this.#sealed.seal(owner, { list: list.slice(from) })
      if (value !== undefined) return writeCookie(cookieName, value, { maxAgeSeconds: signInLifetimeMs / 1000 })
    }
    // It is where to go on that makes it long.
    return this.add(owner, undefined, { ...begun, path: '/', appName: undefined, leadsTo: undefined })
  }

  /**
   * The one that this is the answer to, once. Undefined when it was begun in another browser, for another provider, too long ago, or
   * has come back already. `cookie`: what the browser keeps from now on.
   */
  take(
    owner: string,
    cookieHeader: string | undefined,
    { providerId, state }: { readonly providerId: string; readonly state: string },
  ): { readonly begun: BegunSignIn; readonly cookie: string } | undefined {
    const list = this.#read(owner, cookieHeader)
    const begun = list.find((each) => each.state === state && each.providerId === providerId)
    if (!begun || !this.#use(state)) return undefined
    const rest = list.filter((each) => each !== begun)
    const value = rest.length > 0 ? this.#sealed.seal(owner, { list: rest }) : undefined
    return {
      begun,
      cookie: writeCookie(cookieName, value ?? '', { maxAgeSeconds: value ? signInLifetimeMs / 1000 : 0 }),
    }
  }

  #read(owner: string, cookieHeader: string | undefined): readonly BegunSignIn[] {
    const value = findCookie(cookieHeader, cookieName)
    const { list = [] } = (value && this.#sealed.open(owner, value)) || {}
    // Each has its own time: the cookie is sealed anew with the next.
    return list.filter(({ begunAtMs }) => this.#clock.nowMs() - begunAtMs < signInLifetimeMs)
  }

  /** False when it was used before. */
  #use(state: string): boolean {
    const nowMs = this.#clock.nowMs()
    const digest = createHash('sha256').update(state).digest('base64url')
    if (this.#used.has(digest)) return false
    for (const [each, untilMs] of this.#used) {
      if (untilMs > nowMs && this.#used.size < maxUsed) break
      this.#used.delete(each)
    }
    this.#used.set(digest, nowMs + signInLifetimeMs)
    return true
  }
}

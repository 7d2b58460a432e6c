// The way in, used by every page that signs somebody in: where the browser wanted to go, and the cookies it leaves with.

import { knownDeviceTtlSeconds } from '../../auth/guard/known-devices.ts'
import { findCookie, writeCookie } from '../../auth/sessions/cookie.ts'
import type { ProvenUser } from '../../store/proven-user.ts'
import type { PagesDeps } from './deps.ts'
import { type PageCall, type Redirect, redirect } from './page.ts'
import { type Errand, SealedErrands } from './sealed-errands.ts'

export const homePath = '/account/'
export const signInPath = '/sign-in/'
export const confirmPath = '/confirm/'
const deviceCookie = 'device'

/** How somebody has just proved to be the user of an account. */
export type SignInMeans = 'password' | 'new account' | 'identity provider'

export type Admission = {
  readonly by: SignInMeans
  /** Where the browser wanted to go; its home when it is missing. */
  readonly errand?: Errand | undefined
}

type Started = { readonly by: SignInMeans; readonly path: string }

export class SignInDesk {
  readonly #deps: Pick<PagesDeps, 'sessions' | 'login'>
  readonly #errands: SealedErrands

  /** Where one goes who came for nothing else. */
  readonly home: string

  constructor(deps: Pick<PagesDeps, 'sessions' | 'login' | 'errandKey' | 'clock'>, home = homePath) {
    this.#deps = deps
    this.home = home
    this.#errands = new SealedErrands(deps.errandKey, deps.clock)
  }

  /** To the sign-in page and from there to `errand`, which the browser takes along, sealed. */
  sendToSignIn(call: PageCall, errand: Errand): Redirect {
    const sealed = this.keepErrand(call, errand)
    return redirect(sealed === undefined ? signInPath : `${signInPath}?errand=${sealed}`)
  }

  /** To the page that asks for the password once more, and from there to `path`. */
  sendToConfirm(call: PageCall, path: string): Redirect {
    return redirect(`${confirmPath}?errand=${this.keepErrand(call, { path }) ?? ''}`)
  }

  /** Sealed. Undefined when it leads nowhere on this server. */
  keepErrand({ visit }: PageCall, errand: Errand): string | undefined {
    return this.#errands.seal(visit.owner, errand)
  }

  findErrand({ visit }: PageCall, sealed: string): Errand | undefined {
    return sealed === '' ? undefined : this.#errands.open(visit.owner, sealed)
  }

  /**
   * The one way from "this is the account's user" to a session, for every way of signing in. Whoever proves that calls this and returns
   * its answer, which leads on to `errand`, or home without one; nobody else begins sessions.
   *
   * A session of before ends: the new one never has its id. An account with a second factor is asked for it whatever `by` is: what an
   * identity provider says is a first step like a password, so that whoever gets hold of the account there does not get in here.
   * Throws 'unauthenticated' when the account was changed since `user` was read.
   */
  async admit(call: PageCall, user: ProvenUser, { by, errand }: Admission): Promise<Redirect> {
    return this.#start(call, user, { by, path: errand?.path ?? this.home })
  }

  async #start({ session, context }: PageCall, user: ProvenUser, { by, path }: Started): Promise<Redirect> {
    const { sessions } = this.#deps
    const hasGivenPassword = by === 'password' || by === 'new account'
    const { cookie } = await sessions.start(user, context, { hasGivenPassword })
    if (session) await sessions.end(session)
    return redirect(path, [cookie, this.createDevice(user)])
  }

  /** Set-Cookie of a browser whose user was proved to be there. */
  createDevice(user: ProvenUser): string {
    const value = this.#deps.login.createDevice(user)
    return writeCookie(deviceCookie, value, { maxAgeSeconds: knownDeviceTtlSeconds })
  }

  /** What this browser was given when somebody signed in before. */
  findDevice({ cookieHeader }: PageCall): string | undefined {
    return findCookie(cookieHeader, deviceCookie)
  }
}

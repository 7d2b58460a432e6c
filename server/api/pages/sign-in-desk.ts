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

  /** After the password was checked, or chosen. A session of before ends: the new one never has its id. */
  async signIn({ session, context }: PageCall, user: ProvenUser, path = this.home): Promise<Redirect> {
    const { sessions } = this.#deps
    const { cookie } = await sessions.start(user, context)
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

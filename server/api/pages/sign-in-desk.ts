// The way in, used by every page that signs somebody in: where the browser wanted to go, and the cookies it leaves with.

import { knownDeviceTtlSeconds } from '../../auth/guard/known-devices.ts'
import { findCookie, writeCookie } from '../../auth/sessions/cookie.ts'
import { isLocalPath } from '../../model/local-path.ts'
import type { ProvenUser } from '../../store/proven-user.ts'
import type { PagesDeps } from './deps.ts'
import { Kept } from './kept.ts'
import { type PageCall, type Redirect, redirect } from './page.ts'

/** Where the browser goes after signing in. */
export type Errand = {
  readonly path: string
  /** The application it comes from, by name and by the address it leads back to in the end. */
  readonly appName?: string | undefined
  readonly leadsTo?: string | undefined
}

export const homePath = '/account/'
export const signInPath = '/sign-in/'
export const confirmPath = '/confirm/'
const errandLifetimeMs = 12 * 3_600_000
const deviceCookie = 'device'

export class SignInDesk {
  readonly #deps: Pick<PagesDeps, 'sessions' | 'login'>
  readonly #errands: Kept<Errand>

  /** Where one goes who came for nothing else. */
  readonly home: string

  constructor(deps: Pick<PagesDeps, 'sessions' | 'login' | 'clock'>, home = homePath) {
    this.#deps = deps
    this.home = home
    this.#errands = new Kept({ clock: deps.clock, lifetimeMs: errandLifetimeMs })
  }

  /** To the sign-in page and from there to `errand`, which stays here: the browser gets a name for it. */
  sendToSignIn(call: PageCall, errand: Errand): Redirect {
    const name = this.keepErrand(call, errand)
    return redirect(name === undefined ? signInPath : `${signInPath}?errand=${name}`)
  }

  /** To the page that asks for the password once more, and from there to `path`. */
  sendToConfirm(call: PageCall, path: string): Redirect {
    return redirect(`${confirmPath}?errand=${this.keepErrand(call, { path }) ?? ''}`)
  }

  /** Undefined when it leads nowhere on this server. */
  keepErrand({ visit, context }: PageCall, errand: Errand): string | undefined {
    return isLocalPath(errand.path) ? this.#errands.put(visit.owner, context.ip, errand) : undefined
  }

  findErrand({ visit }: PageCall, name: string): Errand | undefined {
    return name === '' ? undefined : this.#errands.find(visit.owner, name)
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

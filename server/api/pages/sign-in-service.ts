// The way in, used by every page that signs somebody in: where the browser wanted to go, what is still to be proved, and the cookies it
// leaves with.

import { knownDeviceTtlSeconds } from '../../auth/guard/known-devices.ts'
import { findCookie, writeCookie } from '../../auth/sessions/cookie.ts'
import type { Proofs } from '../../auth/sessions/sessions.ts'
import type { SecondFactorKind } from '../../model/second-factor-kind.ts'
import { credentialsChanged, type ProvenUser } from '../../store/accounts/proven-user.ts'
import type { User } from '../../store/accounts/users.ts'
import type { PagesDeps } from './deps.ts'
import { type PageCall, type Redirect, redirect } from './page.ts'
import { confirmPath, homePath, ownSecondFactorPath, secondStepPath, signInPath } from './paths.ts'
import { PendingItems } from './pending-items.ts'
import { type ReturnTo, ReturnToSealer } from './return-to.ts'

const deviceCookie = 'device'
/** To look for the telephone. */
const pendingLifetimeMs = 10 * 60_000

/** How somebody has just proved to be the user of an account. */
export type SignInMeans = 'password' | 'new account' | 'identity provider'

export type Admission = {
  readonly by: SignInMeans
  /** Where the browser wanted to go; its home when it is missing. */
  readonly returnTo?: ReturnTo | undefined
}

/** The first step is done, in this browser; what is missing is the second factor. */
export type Pending = {
  /** As of the first step: nothing comes of it when the account was changed since. */
  readonly user: User
  readonly returnTo: ReturnTo | undefined
  readonly next:
    | { readonly kind: 'sign in'; readonly by: SignInMeans }
    /** The password was given once more, in this session. */
    | { readonly kind: 'confirm'; readonly sessionId: string }
}

type ServiceDeps = Pick<PagesDeps, 'sessions' | 'login' | 'returnToKey' | 'clock' | 'users' | 'secondFactors'>

export class SignInService {
  readonly #deps: ServiceDeps
  readonly #returnToSealer: ReturnToSealer
  readonly #pending: PendingItems<Pending>

  /** Where one goes who came for nothing else. */
  readonly home: string

  constructor(deps: ServiceDeps, home = homePath) {
    this.#deps = deps
    this.home = home
    this.#returnToSealer = new ReturnToSealer(deps.returnToKey, deps.clock)
    const { clock } = deps
    this.#pending = new PendingItems({ clock, lifetimeMs: pendingLifetimeMs, maxEntries: 2000, maxPerUser: 20 })
  }

  /** To the sign-in page and from there to `returnTo`, which the browser takes along, sealed. */
  sendToSignIn(call: PageCall, returnTo: ReturnTo): Redirect {
    const sealed = this.sealReturnTo(call, returnTo)
    return redirect(sealed === undefined ? signInPath : `${signInPath}?return_to=${sealed}`)
  }

  /** To the page that asks for the password once more, and from there to `path`. */
  sendToConfirm(call: PageCall, path: string): Redirect {
    return redirect(`${confirmPath}?return_to=${this.sealReturnTo(call, { path }) ?? ''}`)
  }

  /** To the page where a second factor is set up, and from there to `path`. */
  sendToSetUp(call: PageCall, path: string): Redirect {
    return redirect(`${ownSecondFactorPath}?return_to=${this.sealReturnTo(call, { path }) ?? ''}`)
  }

  /** Sealed. Undefined when it leads nowhere on this server. */
  sealReturnTo({ visit }: PageCall, returnTo: ReturnTo): string | undefined {
    return this.#returnToSealer.seal(visit.owner, returnTo)
  }

  findReturnTo({ visit }: PageCall, sealed: string): ReturnTo | undefined {
    return sealed === '' ? undefined : this.#returnToSealer.open(visit.owner, sealed)
  }

  /**
   * The one way from "this is the account's user" to a session, for every way of signing in. Whoever proves that calls this and returns
   * its answer, which leads on to `returnTo`, or home without one, or first to what is missing; nobody else begins sessions.
   *
   * A session of before ends: the new one never has its id. An account with a second factor is asked for it whatever `by` is: what an
   * identity provider says is a first step like a password, so that whoever gets hold of the account there does not get in here.
   * Throws 'unauthenticated' when the account was changed since `user` was read.
   */
  async admit(call: PageCall, { id, credentialsVersion }: ProvenUser, { by, returnTo }: Admission): Promise<Redirect> {
    const { users, secondFactors } = this.#deps
    const found = await users.find(id)
    if (!found) throw credentialsChanged()
    const user = { ...found, credentialsVersion }
    if (user.hasSecondFactor) return this.#askSecondFactor(call, { user, returnTo, next: { kind: 'sign in', by } })
    const hasGivenPassword = by === 'password' || by === 'new account'
    const needsSecondFactor = await secondFactors.isMissing(user)
    return this.#start(call, user, returnTo, { hasGivenPassword, needsSecondFactor })
  }

  /** After a passkey alone, whose user the authenticator has verified: that is two factors. Throws as `admit`. */
  admitByPasskey(call: PageCall, user: ProvenUser, returnTo: ReturnTo | undefined): Promise<Redirect> {
    return this.#start(call, user, returnTo, { hasGivenPassword: false, secondFactor: 'passkey' })
  }

  /** After the password was given again in `session`: what asked for it may go on, after the second factor if there is one. */
  async confirm(call: PageCall, user: User, returnTo: ReturnTo | undefined): Promise<Redirect> {
    const session = call.session!
    if (user.hasSecondFactor) {
      return this.#askSecondFactor(call, { user, returnTo, next: { kind: 'confirm', sessionId: session.id } })
    }
    const { cookie } = await this.#deps.sessions.renew(session)
    return redirect(returnTo?.path ?? this.home, [cookie])
  }

  /** Undefined when there is none of this browser's by that name, any more. */
  findPending({ visit, session }: PageCall, name: string): Pending | undefined {
    const pending = this.#pending.find(visit.owner, name)
    const isOver = pending?.next.kind === 'confirm' && pending.next.sessionId !== session?.id
    return isOver ? undefined : pending
  }

  /** After the second factor of what is pending was proved. Undefined when it is not pending any more. Throws as `admit`. */
  async complete(call: PageCall, name: string, secondFactor: SecondFactorKind): Promise<Redirect | undefined> {
    const pending = this.findPending(call, name) && this.#pending.take(call.visit.owner, name)
    if (!pending) return undefined
    const { user, returnTo, next } = pending
    if (next.kind === 'sign in') {
      return this.#start(call, user, returnTo, { hasGivenPassword: next.by !== 'identity provider', secondFactor })
    }
    const session = call.session!
    if (session.credentialsVersion !== user.credentialsVersion) throw credentialsChanged()
    const { cookie } = await this.#deps.sessions.renew(session, { secondFactor })
    return redirect(returnTo?.path ?? this.home, [cookie])
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

  #askSecondFactor({ visit }: PageCall, pending: Pending): Redirect {
    return redirect(`${secondStepPath}?step=${this.#pending.put(visit.owner, pending.user.id, pending)}`)
  }

  async #start(
    { session, context }: PageCall,
    user: ProvenUser,
    returnTo: ReturnTo | undefined,
    proofs: Proofs,
  ): Promise<Redirect> {
    const { sessions } = this.#deps
    const { cookie } = await sessions.start(user, context, proofs)
    if (session) await sessions.end(session)
    return redirect(returnTo?.path ?? this.home, [cookie, this.createDevice(user)])
  }
}

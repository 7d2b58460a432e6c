// Starts and confirms sessions for all pages that sign users in: it remembers where the browser returns to, asks for
// the second factor, and sets the cookies.

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
/** Enough time to fetch the phone. */
const pendingLifetimeMs = 10 * 60_000

/** How the user has just proved their identity. */
export type SignInMeans = 'password' | 'new account' | 'identity provider'

export type Admission = {
  readonly by: SignInMeans
  /** Where the browser returns to; `home` by default. */
  readonly returnTo?: ReturnTo | undefined
}

/** A sign-in whose first step succeeded in this browser. The second factor is missing. */
export type Pending = {
  /** The user as of the first step. If the account has changed since, the sign-in fails. */
  readonly user: User
  readonly returnTo?: ReturnTo | undefined
  readonly next:
    | { readonly kind: 'sign in'; readonly by: SignInMeans }
    /** The user entered the password again in this session. */
    | { readonly kind: 'confirm'; readonly sessionId: string }
}

type ServiceDeps = Pick<
  PagesDeps,
  'sessions' | 'login' | 'returnToKey' | 'longPaths' | 'pendingKey' | 'clock' | 'users' | 'usedValues' | 'secondFactors'
>

export class SignInService {
  readonly #deps: ServiceDeps
  readonly #returnToSealer: ReturnToSealer
  readonly #pending: PendingItems<Pending>

  /** Where browsers go that have no other page to return to. */
  readonly home: string

  constructor(deps: ServiceDeps, home = homePath) {
    this.#deps = deps
    this.home = home
    this.#returnToSealer = new ReturnToSealer(deps.returnToKey, deps.clock, deps.longPaths)
    const { pendingKey: key, clock, usedValues: used } = deps
    this.#pending = new PendingItems({ key, kind: 'second step', lifetimeMs: pendingLifetimeMs, clock, used })
  }

  /** Redirects to sign-in. The browser carries `returnTo`, sealed. */
  sendToSignIn(call: PageCall, returnTo: ReturnTo): Redirect {
    const sealed = this.sealReturnTo(call, returnTo)
    return redirect(sealed === undefined ? signInPath : `${signInPath}?return_to=${sealed}`)
  }

  /** Redirects to the password confirmation, then to `path`. */
  sendToConfirm(call: PageCall, path: string): Redirect {
    return redirect(`${confirmPath}?return_to=${this.sealReturnTo(call, { path }) ?? ''}`)
  }

  /** Redirects to the setup of a second factor, then to `path`. */
  sendToSetUp(call: PageCall, path: string): Redirect {
    return redirect(`${ownSecondFactorPath}?return_to=${this.sealReturnTo(call, { path }) ?? ''}`)
  }

  /** Returns undefined if `returnTo` is not on this server. */
  sealReturnTo({ visit }: PageCall, returnTo: ReturnTo): string | undefined {
    return this.#returnToSealer.seal(visit.owner, returnTo)
  }

  async findReturnTo({ visit }: PageCall, sealed: string): Promise<ReturnTo | undefined> {
    const opened = sealed === '' ? undefined : visit.find((owner) => this.#returnToSealer.open(owner, sealed))
    return opened && this.#returnToSealer.lengthen(opened)
  }

  /**
   * Starts a session for a user who has proved their identity. Every way of signing in must call this method and return
   * its answer; nothing else starts sessions. The answer redirects to `returnTo` or `home`, or first to the second
   * factor.
   *
   * An earlier session ends, so the new one never reuses its id. An account with a second factor is asked for it after
   * an identity provider too: an attacker who controls the account at the provider does not get in. Throws
   * 'unauthenticated' if the account has changed since `user` was read.
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

  /** For a passkey alone. The authenticator has verified the user, so it counts as two factors. Throws like `admit`. */
  admitByPasskey(call: PageCall, user: ProvenUser, returnTo: ReturnTo | undefined): Promise<Redirect> {
    return this.#start(call, user, returnTo, { hasGivenPassword: false, secondFactor: 'passkey' })
  }

  /** After the user entered the password again. Asks for the second factor if there is one. */
  async confirm(call: PageCall, user: User, returnTo: ReturnTo | undefined): Promise<Redirect> {
    const session = call.session!
    if (user.hasSecondFactor) {
      return this.#askSecondFactor(call, { user, returnTo, next: { kind: 'confirm', sessionId: session.id } })
    }
    const { cookie } = await this.#deps.sessions.renew(session)
    return redirect(returnTo?.path ?? this.home, [cookie])
  }

  /** Returns undefined if this browser has no such pending sign-in, or if it has expired or was completed. */
  async findPending({ visit, session }: PageCall, item: string): Promise<Pending | undefined> {
    const pending = visit.find((owner) => this.#pending.open(owner, item))
    const isOver = pending?.next.kind === 'confirm' && pending.next.sessionId !== session?.id
    return !pending || isOver || (await this.#pending.isCompleted(item)) ? undefined : pending
  }

  /**
   * Completes a pending sign-in after its second factor. Returns undefined if it is no longer pending. Throws like
   * `admit`.
   */
  async complete(call: PageCall, item: string, secondFactor: SecondFactorKind): Promise<Redirect | undefined> {
    const pending = await this.findPending(call, item)
    if (!pending || !(await this.#pending.take(call.visit.owner, item, pending.user.id))) return undefined
    const { user, next } = pending
    const returnTo = pending.returnTo && (await this.#returnToSealer.lengthen(pending.returnTo))
    if (next.kind === 'sign in') {
      return this.#start(call, user, returnTo, { hasGivenPassword: next.by !== 'identity provider', secondFactor })
    }
    const session = call.session!
    if (session.credentialsVersion !== user.credentialsVersion) throw credentialsChanged()
    const { cookie } = await this.#deps.sessions.renew(session, { secondFactor })
    return redirect(returnTo?.path ?? this.home, [cookie])
  }

  /** The Set-Cookie value that marks this browser as known to the user. */
  createDevice(user: ProvenUser): string {
    const value = this.#deps.login.createDevice(user)
    return writeCookie(deviceCookie, value, { maxAgeSeconds: knownDeviceTtlSeconds })
  }

  /** The value of the cookie that `createDevice` set, if any. */
  findDevice({ cookieHeader }: PageCall): string | undefined {
    return findCookie(cookieHeader, deviceCookie)
  }

  #askSecondFactor({ visit }: PageCall, { user, returnTo, next }: Pending): Redirect {
    const short = returnTo && this.#returnToSealer.shorten(returnTo)
    // What is short fits.
    const item = this.#pending.put(visit.owner, { user, next, ...(short && { returnTo: short }) })!
    return redirect(`${secondStepPath}?step=${item}`)
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

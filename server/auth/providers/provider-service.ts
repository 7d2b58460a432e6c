// Sign-in with identity providers, from the button to the account. The pages ask this service where to send the browser
// and what its return means. It does not create sessions.

import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'
import { decideIdentity, type IdentityRefusal } from '../../model/identity-decision.ts'
import type { Identity, Person, UnlinkOptions } from '../../store/accounts/identities.ts'
import type { ProvenUser } from '../../store/accounts/proven-user.ts'
import type { User } from '../../store/accounts/users.ts'
import type { Store } from '../../store/store.ts'
import type { IdentityNotice } from '../accounts/account-mails.ts'
import type { SignUp } from '../accounts/accounts-options.ts'
import type { Audit } from '../guard/audit.ts'
import type { RequestContext } from '../request-context.ts'
import type { LongPaths } from '../sessions/long-paths.ts'
import { SealedValues } from '../sessions/sealed-values.ts'
import type { Session } from '../sessions/sessions.ts'
import { type BegunSignIn, BegunSignIns, type Destination, type Purpose } from './begun-sign-ins.ts'
import type { Claims, ProviderClient } from './provider-client.ts'
import { issuerKey } from './provider-settings.ts'

export type ProviderServiceOptions = {
  readonly longPaths: LongPaths
  readonly clients: readonly ProviderClient[]
  readonly store: Pick<Store, 'identities' | 'usedValues' | 'users'>
  readonly audit: Pick<Audit, 'write'>
  /** Notifies the user by email. Never throws. */
  readonly notify: (notice: IdentityNotice) => void
  readonly signUp: SignUp
  /** 32 bytes each, used for nothing else. */
  readonly keys: { readonly begun: Uint8Array; readonly found: Uint8Array }
  readonly clock: Clock
}

/** What the link of a provider's button contains. */
export type Start = Destination & { readonly purpose: Purpose; readonly sessionId?: string | undefined }

/** The browser that sends the request. */
export type Browser = {
  /** The owner of the browser's visit. */
  readonly owner: string
  /** Of all its visits. */
  readonly owners: readonly string[]
  readonly cookieHeader: string | undefined
  /** The session of the signed-in user, if any. */
  readonly session: Session | undefined
  readonly context: RequestContext
}

/** A person at a provider whose email address belongs to an account. */
export type Found = {
  readonly providerId: string
  readonly person: Person
  readonly userId: number
  readonly path: string
}

export type Outcome =
  | { readonly kind: 'signed_in'; readonly user: ProvenUser; readonly destination: Destination }
  | { readonly kind: 'linked' | 'confirmed'; readonly path: string }
  /** `found` is sealed for the browser. Once the user has signed in to the account, a page asks whether to link it. */
  | { readonly kind: 'prove'; readonly email: string; readonly found: string }
  | { readonly kind: 'denied'; readonly purpose: Purpose; readonly path: string }
  | { readonly kind: 'stale' | 'unavailable' | 'invalid' | 'not_fresh' | 'other_session' }
  | { readonly kind: 'refused'; readonly reason: IdentityRefusal; readonly email: string | undefined }

export type NamedProvider = { readonly id: string; readonly name: string }

export type LinkedProvider = Identity & {
  /** Undefined if the provider is no longer configured. */
  readonly provider: NamedProvider | undefined
}

/** The link of a button is valid for as long as a page may be left open. */
const startLifetimeMs = 12 * 3_600_000
const foundLifetimeMs = 15 * 60_000
/** For rounding, and the way of the answer. */
const clockLeewayMs = 60_000
const maxSealedLength = 8192

export class ProviderService {
  readonly #options: ProviderServiceOptions
  readonly #clients: ReadonlyMap<string, ProviderClient>
  readonly #begun: BegunSignIns
  readonly #starts: SealedValues<Start>
  readonly #found: SealedValues<Found>
  readonly #paths: LongPaths
  /** In the order of the configuration. */
  readonly providers: readonly NamedProvider[]

  constructor(options: ProviderServiceOptions) {
    const { clients, keys, clock } = options
    this.#options = options
    this.#clients = new Map(clients.map((client) => [client.settings.id, client]))
    this.providers = clients.map(({ settings: { id, name } }) => ({ id, name }))
    this.#begun = new BegunSignIns(keys.begun, clock, options.store.usedValues)
    this.#paths = options.longPaths
    const common = { key: keys.found, clock, maxLength: maxSealedLength }
    this.#starts = new SealedValues({ ...common, lifetimeMs: startLifetimeMs })
    this.#found = new SealedValues({ ...common, lifetimeMs: foundLifetimeMs })
  }

  /** Returns the value for the link of a button. It is valid only in this browser. */
  sealStart(owner: string, start: Start): string {
    return this.#starts.seal(startOwner(owner), { ...start, path: this.#paths.shorten(start.path) })!
  }

  openStart(owner: string, sealed: string): Start | undefined {
    return this.#starts.open(startOwner(owner), sealed)
  }

  /**
   * Returns where to redirect the browser. Throws 'unavailable' if the provider cannot be reached, and 'not_found' for
   * an unknown provider.
   */
  async begin(providerId: string, start: Start, browser: Browser): Promise<{ location: string; cookie: string }> {
    const client = this.#get(providerId)
    const { location, challenge } = await client.begin(start.purpose === 'confirm')
    const begun: BegunSignIn = { ...challenge, ...start, providerId, begunAtMs: this.#options.clock.nowMs() }
    return { location, cookie: this.#begun.add(browser, begun) }
  }

  /**
   * Handles a response of the provider. `cookie` is a Set-Cookie value, if any. Throws 'conflict' after simultaneous
   * changes and 'unauthenticated' if the account has changed.
   */
  async finish(
    providerId: string,
    query: URLSearchParams,
    browser: Browser,
  ): Promise<{ readonly outcome: Outcome; readonly cookie?: string }> {
    const client = this.#get(providerId)
    const states = query.getAll('state')
    const taken = states.length === 1 ? await this.#begun.take(browser, { providerId, state: states[0]! }) : undefined
    if (!taken) return { outcome: { kind: 'stale' } }
    const { cookie } = taken
    const path = (await this.#paths.find(taken.begun.path)) ?? '/'
    const begun = { ...taken.begun, path }
    const proof = await client.finish(query, begun, browser.context.ip)
    const outcome =
      proof.kind === 'proved'
        ? await this.#settle(client, proof.claims, begun, browser)
        : proof.kind === 'denied'
          ? ({ kind: 'denied', purpose: begun.purpose, path: begun.path } as const)
          : ({ kind: proof.kind } as const)
    if (outcome.kind === 'unavailable' || outcome.kind === 'invalid') this.#noteFailure(client, outcome.kind, browser)
    return { outcome, cookie }
  }

  /**
   * Returns what the page asks the signed-in user about, or undefined if it belongs to another browser or has expired.
   */
  async openFound(
    { owners, session }: Browser,
    sealed: string,
  ): Promise<(Found & { readonly provider: NamedProvider }) | undefined> {
    const found = this.#found.open(owners, sealed)
    const client = found && this.#clients.get(found.providerId)
    if (!found || !client || !session) return undefined
    const path = (await this.#paths.find(found.path)) ?? '/'
    return { ...found, path, provider: { id: client.settings.id, name: client.settings.name } }
  }

  /**
   * Links the identity after the user agreed, signed in and with a recent password. Throws like `finish`, and
   * 'forbidden' if the identity is linked to another account.
   */
  async linkFound(found: Found, browser: Browser): Promise<void> {
    const { session } = browser
    if (session?.userId !== found.userId) throw new AppError('forbidden', 'the identity belongs to a different account')
    await this.#link(
      this.#get(found.providerId),
      session.userId,
      session.credentialsVersion,
      found,
      browser,
      'password',
    )
  }

  /** Returns the identities that are linked to the account, in the order in which they were linked. */
  async list(userId: number): Promise<LinkedProvider[]> {
    const identities = await this.#options.store.identities.list(userId)
    return identities.map((identity) => ({ ...identity, provider: this.#findByIssuer(identity.issuer) }))
  }

  /**
   * Removes a link and ends all sessions except one. Returns the changed account. Throws 'not_found', and 'conflict' if
   * there is no other way to sign in to the account.
   */
  async unlink(
    userId: number,
    identityId: number,
    { context, ...kept }: Omit<UnlinkOptions, 'isUsable'> & { readonly context: RequestContext },
  ): Promise<User> {
    const { store, audit, notify } = this.#options
    const isUsable = (issuer: string) => this.#findByIssuer(issuer) !== undefined
    const { user, identity } = await store.identities.unlink(userId, identityId, { isUsable, ...kept })
    const provider = this.#findByIssuer(identity.issuer)
    const detail = { provider: provider?.id ?? identity.issuer }
    audit.write({ event: 'identity.unlinked', userId, subject: user.email, context, detail })
    notify({ user, providerName: provider?.name ?? identity.issuer, isLinked: false, context })
    return user
  }

  async #settle(client: ProviderClient, claims: Claims, begun: BegunSignIn, browser: Browser): Promise<Outcome> {
    const person: Person = { issuer: claims.issuer, subject: claims.subject, email: claims.email ?? null }
    if (begun.purpose === 'sign_in') return this.#signIn(client, claims, person, begun, browser)
    const { session } = browser
    // The user signed out, or another user signed in, after the sign-in was started.
    if (!session || session.id !== begun.sessionId) return { kind: 'other_session' }
    return begun.purpose === 'link'
      ? this.#linkFromSettings(client, person, session, begun, browser)
      : this.#confirm(claims, person, session, begun, browser)
  }

  async #signIn(
    client: ProviderClient,
    claims: Claims,
    person: Person,
    begun: BegunSignIn,
    browser: Browser,
  ): Promise<Outcome> {
    const { store, audit, signUp } = this.#options
    const { identities, users } = store
    const { email, isEmailVerified } = claims
    const linked = await identities.find(person)
    const same = linked || !isEmailVerified ? undefined : await users.findByEmail(email!)
    const decision = decideIdentity(
      {
        linked: linked && toAccount(linked.user),
        isEmailVerified,
        sameAddress: same && { ...toAccount(same), hasOther: await this.#hasOther(same.id, person) },
        isInvited:
          !linked && !same && isEmailVerified && signUp === 'invitation' && (await identities.isInvited(email!)),
      },
      { linksByAddress: client.settings.linksByAddress, signUp },
    )
    const provider = client.settings.id
    switch (decision.kind) {
      case 'sign_in': {
        const { identity, user } = linked!
        await identities.noteUse(identity.id, person.email)
        return this.#welcome(client, user, begun, browser)
      }
      case 'link':
        await this.#link(client, same!.id, same!.credentialsVersion, { person }, browser, 'rule')
        return this.#welcome(client, same!, begun, browser)
      case 'prove': {
        const path = this.#paths.shorten(begun.path)
        const found: Found = { providerId: provider, person, userId: same!.id, path }
        return { kind: 'prove', email: same!.email, found: this.#found.seal(browser.owner, found)! }
      }
      case 'add': {
        const newUser = { email: email!, firstName: claims.firstName, lastName: claims.lastName }
        const user = await identities.addUser(newUser, person, decision.needsInvitation)
        const detail = { via: 'provider', provider }
        audit.write({ event: 'user.created', userId: user.id, subject: user.email, context: browser.context, detail })
        return this.#welcome(client, user, begun, browser)
      }
      case 'refuse': {
        const about = linked?.user ?? same
        this.#note(client, 'login.failed', about, browser, { reason: decision.reason })
        return { kind: 'refused', reason: decision.reason, email }
      }
    }
  }

  async #linkFromSettings(
    client: ProviderClient,
    person: Person,
    { userId, credentialsVersion }: Session,
    { path }: BegunSignIn,
    browser: Browser,
  ): Promise<Outcome> {
    await this.#link(client, userId, credentialsVersion, { person }, browser, 'settings')
    return { kind: 'linked', path }
  }

  /** Replaces the password, which the account does not have. */
  async #confirm(
    { authenticatedAgoS }: Claims,
    person: Person,
    { userId }: Session,
    { path, begunAtMs }: BegunSignIn,
    { context }: Browser,
  ): Promise<Outcome> {
    const { store, audit, clock } = this.#options
    const linked = await store.identities.find(person)
    const isOurs = linked?.user.id === userId && linked.user.disabledAtMs === null
    if (!isOurs || (await store.users.hasPassword(userId))) return { kind: 'other_session' }
    // Only durations are compared, because the clocks may differ.
    const agoMs = clock.nowMs() - begunAtMs
    const isFresh = authenticatedAgoS !== undefined && authenticatedAgoS * 1000 <= agoMs + clockLeewayMs
    const detail = { via: 'provider confirmation' }
    if (!isFresh) {
      audit.write({ event: 'login.failed', userId, context, detail: { ...detail, reason: 'not fresh' } })
      return { kind: 'not_fresh' }
    }
    await store.identities.noteUse(linked.identity.id, person.email)
    audit.write({ event: 'login.ok', userId, subject: linked.user.email, context, detail })
    return { kind: 'confirmed', path }
  }

  async #link(
    { settings }: ProviderClient,
    userId: number,
    credentialsVersion: number,
    { person }: { readonly person: Person },
    { context }: Browser,
    via: 'password' | 'settings' | 'rule',
  ): Promise<void> {
    const { store, audit, notify } = this.#options
    const isNew = await store.identities.link({ id: userId, credentialsVersion }, person)
    if (!isNew) return
    const user = await store.users.get(userId)
    const detail = { provider: settings.id, via }
    audit.write({ event: 'identity.linked', userId, subject: user.email, context, detail })
    notify({ user, providerName: settings.name, isLinked: true, context })
  }

  #welcome(client: ProviderClient, user: User, { path, appName, leadsOut }: BegunSignIn, browser: Browser): Outcome {
    this.#note(client, 'login.ok', user, browser, {})
    return { kind: 'signed_in', user, destination: { path, appName, leadsOut } }
  }

  #noteFailure(client: ProviderClient, reason: string, browser: Browser): void {
    this.#note(client, 'login.failed', undefined, browser, { reason: `provider: ${reason}` })
  }

  #note(
    { settings }: ProviderClient,
    event: 'login.ok' | 'login.failed',
    user: User | undefined,
    { context }: Browser,
    more: Readonly<Record<string, string>>,
  ): void {
    const about = user && { userId: user.id, subject: user.email }
    const detail = { via: 'provider', provider: settings.id, ...more }
    this.#options.audit.write({ event, ...about, context, detail })
  }

  async #hasOther(userId: number, { issuer, subject }: Person): Promise<boolean> {
    const present = await this.#options.store.identities.list(userId)
    return present.some((each) => each.issuer === issuer && each.subject !== subject)
  }

  #findByIssuer(issuer: string): NamedProvider | undefined {
    const client = [...this.#clients.values()].find(({ settings }) => issuerKey(settings.issuer) === issuerKey(issuer))
    return client && { id: client.settings.id, name: client.settings.name }
  }

  #get(providerId: string): ProviderClient {
    const client = this.#clients.get(providerId)
    if (!client) throw new AppError('not_found', 'the identity provider does not exist')
    return client
  }
}

/** Prevents values of one kind from being used as the other. */
const startOwner = (owner: string): string => `start ${owner}`

function toAccount({ id, disabledAtMs }: User) {
  return { id, isDisabled: disabledAtMs !== null }
}

// Checks an e-mail address and a password, the same for the sign-in page and the password grant. Who is unknown, disabled or wrong
// gets the same answer after the same work.

import type { Clock } from '../../base/clock.ts'
import { AppError, errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import { emailKey } from '../../model/email.ts'
import type { ProvenUser } from '../../store/accounts/proven-user.ts'
import type { User, Users } from '../../store/accounts/users.ts'
import { createUnmatchableHash, isPasswordHash, needsRehash } from '../password.ts'
import type { RequestContext } from '../request-context.ts'
import type { Audit } from './audit.ts'
import type { KnownDevices } from './known-devices.ts'
import { LoginThrottle } from './login-throttle.ts'
import type { PasswordQueue } from './password-queue.ts'

/** What of the store's users is needed here. */
type LoginRows = Pick<Users, 'findLogin' | 'replacePasswordHash'>

export type LoginOptions = {
  readonly users: LoginRows
  readonly passwords: Passwords
  readonly devices: KnownDevices
  readonly audit: Pick<Audit, 'write'>
  readonly clock: Clock
  readonly log: Logger
}

export type LoginInput = {
  readonly email: string
  readonly password: string
  readonly context: RequestContext
  /** The value of `createDevice` that the browser has kept, if any. */
  readonly device?: string | undefined
  /** Of a request that proves otherwise that this user signed in there before: which session does, or that a token does. */
  readonly proof?: string | undefined
  /** For the audit log: how they sign in, for instance `page` or `password_grant`. */
  readonly via?: string
}

/** What of the queue is needed here. */
type Passwords = Pick<PasswordQueue, 'checkRoom' | 'verify' | 'rehash'>

type Found = { readonly user: User; readonly passwordHash: string }

export class Login {
  readonly #users: LoginRows
  readonly #passwords: Passwords
  readonly #devices: KnownDevices
  readonly #audit: Pick<Audit, 'write'>
  readonly #log: Logger
  readonly #throttle: LoginThrottle
  readonly #unmatchableHash = createUnmatchableHash()

  constructor({ users, passwords, devices, audit, clock, log }: LoginOptions) {
    this.#users = users
    this.#passwords = passwords
    this.#devices = devices
    this.#audit = audit
    this.#log = log
    this.#throttle = new LoginThrottle(clock)
  }

  /**
   * The account as it was when the password was found right: what is made on that names its version (`ProvenUser`), so that it is
   * refused when the account was changed since. Undefined when e-mail or password is wrong or the account is disabled. Throws 'rate_limited' after too many failures and
   * 'unavailable' when too many passwords are being checked, both with `retryAfterSeconds`.
   */
  async verify(input: LoginInput): Promise<User | undefined> {
    const { email, password, context } = input
    this.#passwords.checkRoom()
    const found = await this.#find(email)
    const isDeviceKnown = found !== undefined && this.#devices.isKnown(input.device, found.user)
    const knownAs = input.proof ?? (isDeviceKnown ? input.device : undefined)
    const attempt = await this.#throttle.begin({ account: keyOf(email), ip: context.ip, knownAs })
    let outcome: 'right' | 'wrong' | 'undecided' = 'undecided'
    let user: User | undefined
    try {
      user = await this.#prove(found, password)
      outcome = user ? 'right' : 'wrong'
    } finally {
      attempt.end(outcome)
    }
    this.#note(input, found?.user, user !== undefined)
    return user
  }

  /** What a browser is to keep, and to give as `device`, so that attacks from elsewhere do not keep this user out. */
  createDevice(user: ProvenUser): string {
    return this.#devices.create(user)
  }

  /** After a new password by mail: failures of before do not keep its user out. */
  forgive(email: string, { ip }: RequestContext): void {
    this.#throttle.forgive(keyOf(email), ip)
  }

  async #prove(found: Found | undefined, password: string): Promise<User | undefined> {
    const hash = found && isPasswordHash(found.passwordHash) ? found.passwordHash : this.#unmatchableHash
    if (!(await this.#passwords.verify(hash, password)) || !found) return undefined
    const passwordHash = needsRehash(hash) ? await this.#rehash(found, password) : hash
    // It took a while: the account may be another by now.
    const now = await this.#users.findLogin(found.user.email)
    const isSame = now?.user.id === found.user.id && now.passwordHash === passwordHash
    return isSame && now.user.disabledAtMs === null ? now.user : undefined
  }

  /** What no account can be called never reaches the database: PostgreSQL takes no NUL. */
  async #find(email: string): Promise<Found | undefined> {
    return email.length > maxEmailLength || email.includes('\0') ? undefined : this.#users.findLogin(email)
  }

  /** The address is noted only when it is an account's: people type passwords into the wrong field. */
  #note({ context, via }: LoginInput, user: User | undefined, isRight: boolean): void {
    this.#audit.write({
      event: isRight ? 'login.ok' : 'login.failed',
      ...(user && { userId: user.id, subject: user.email }),
      context,
      detail: {
        ...(via !== undefined && { via }),
        ...(!isRight && { reason: user ? (user.disabledAtMs === null ? 'password' : 'disabled') : 'unknown account' }),
      },
    })
  }

  /**
   * The hash that the account has from then on. In place only of the hash it was made for: the password may have been changed in
   * the meantime.
   */
  async #rehash({ user, passwordHash }: Found, password: string): Promise<string> {
    try {
      const better = await this.#passwords.rehash(password)
      if (await this.#users.replacePasswordHash(user.id, passwordHash, better)) return better
    } catch (error) {
      // If there is no room now: at the next log-in, then.
      if (!(error instanceof AppError && error.kind === 'unavailable')) {
        this.#log.warn({ user: user.id, reason: errorChain(error) }, 'a password could not be hashed anew')
      }
    }
    return passwordHash
  }
}

const maxEmailLength = 254

const keyOf = (email: string): string => emailKey(email).slice(0, maxEmailLength)

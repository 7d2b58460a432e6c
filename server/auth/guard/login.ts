// Verifies an email address and a password, for the sign-in page and the password grant alike. Unknown and disabled
// accounts and wrong passwords lead to the same response after the same amount of work.

import type { Clock } from '../../base/clock.ts'
import { AppError, errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import { emailKey } from '../../model/email.ts'
import type { ProvenUser } from '../../store/accounts/proven-user.ts'
import type { User, Users } from '../../store/accounts/users.ts'
import { createUnmatchableHash, isPasswordHash, needsRehash } from '../password.ts'
import type { RequestContext } from '../request-context.ts'
import { addressBlock } from './address-block.ts'
import type { Audit } from './audit.ts'
import type { KnownDevices } from './known-devices.ts'
import { LoginThrottle, type LoginThrottleOptions } from './login-throttle.ts'
import type { PasswordClient, PasswordQueue } from './password-queue.ts'

/** The part of the user table that is needed here. */
type LoginRows = Pick<Users, 'findLogin' | 'replacePasswordHash'>

export type LoginOptions = {
  readonly users: LoginRows
  readonly failures: LoginThrottleOptions['rows']
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
  /** The value from `createDevice` that the browser sent, if any. */
  readonly device?: string | undefined
  /** Identifies the session or token that proves that this user has signed in before. */
  readonly proof?: string | undefined
  /** For the audit log: the kind of sign-in, such as `page` or `password_grant`. */
  readonly via?: string
}

/** The part of the password queue that is needed here. */
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

  constructor({ users, failures, passwords, devices, audit, clock, log }: LoginOptions) {
    this.#users = users
    this.#passwords = passwords
    this.#devices = devices
    this.#audit = audit
    this.#log = log
    this.#throttle = new LoginThrottle({ clock, rows: failures, kind: 'password' })
  }

  /**
   * Returns the account as it was when the password was verified. Later changes name its version (`ProvenUser`), so
   * that they are refused if the account has changed. Returns undefined if the email address or password is wrong or
   * the account is disabled. Throws 'rate_limited' after too many failures and 'unavailable' if too many passwords are
   * being checked, both with `retryAfterSeconds`.
   */
  async verify(input: LoginInput): Promise<User | undefined> {
    const { email, password, context } = input
    const stranger = { name: addressBlock(context.ip, 48), isKnown: false }
    const mayBeKnown = input.proof !== undefined || input.device !== undefined
    if (!mayBeKnown) this.#passwords.checkRoom(stranger)
    const found = await this.#find(email)
    const isDeviceKnown = found !== undefined && this.#devices.isKnown(input.device, found.user)
    const knownAs = input.proof ?? (isDeviceKnown ? input.device : undefined)
    const attempt = await this.#throttle.begin({ account: keyOf(email), ip: context.ip, knownAs, password })
    let outcome: 'right' | 'wrong' | 'undecided' = 'undecided'
    let user: User | undefined
    try {
      const known = found && { name: `user ${found.user.id}`, isKnown: true }
      user = await this.#prove(found, password, knownAs !== undefined && known ? known : stranger)
      outcome = user ? 'right' : 'wrong'
    } finally {
      await attempt.end(outcome)
    }
    this.#note(input, found?.user, user !== undefined)
    return user
  }

  /**
   * Returns a value for a cookie. Browsers that send it as `device` can sign in while the account is attacked from
   * elsewhere.
   */
  createDevice(user: ProvenUser): string {
    return this.#devices.create(user)
  }

  /** Earlier failures no longer count, because the user set a new password by email. */
  forgive(email: string, { ip }: RequestContext): Promise<void> {
    return this.#throttle.forgive(keyOf(email), ip)
  }

  async #prove(found: Found | undefined, password: string, client: PasswordClient): Promise<User | undefined> {
    const hash = found && isPasswordHash(found.passwordHash) ? found.passwordHash : this.#unmatchableHash
    if (!(await this.#passwords.verify(hash, password, client)) || !found) return undefined
    const passwordHash = needsRehash(hash) ? await this.#rehash(found, password) : hash
    // The check takes a while, so the account may have changed.
    const now = await this.#users.findLogin(found.user.email)
    const isSame = now?.user.id === found.user.id && now.passwordHash === passwordHash
    return isSame && now.user.disabledAtMs === null ? now.user : undefined
  }

  /** Malformed email addresses are not looked up: PostgreSQL does not accept NUL. */
  async #find(email: string): Promise<Found | undefined> {
    return email.length > maxEmailLength || email.includes('\0') ? undefined : this.#users.findLogin(email)
  }

  /**
   * The email address is recorded only if it belongs to an account, because people type passwords into the wrong field.
   */
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
   * Returns the new hash of the account. It replaces only the hash that was verified, because the password may have
   * changed in the meantime.
   */
  async #rehash({ user, passwordHash }: Found, password: string): Promise<string> {
    try {
      const better = await this.#passwords.rehash(password)
      if (await this.#users.replacePasswordHash(user.id, passwordHash, better)) return better
    } catch (error) {
      // If the queue is full, the hash is renewed at the next sign-in.
      if (!(error instanceof AppError && error.kind === 'unavailable')) {
        this.#log.warn({ user: user.id, reason: errorChain(error) }, 'a password hash could not be renewed')
      }
    }
    return passwordHash
  }
}

const maxEmailLength = 254

const keyOf = (email: string): string => emailKey(email).slice(0, maxEmailLength)

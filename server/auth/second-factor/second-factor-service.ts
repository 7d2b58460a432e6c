// The second factors of accounts: whether one is required, verification, changes, and their audit events and notices.
// The pages decide when to ask for a factor and what it permits.

import { invalidAccount } from '../../model/account-fault.ts'
import type { FactorAddition, FactorChanger, SecondFactorList } from '../../store/accounts/second-factors.ts'
import type { User } from '../../store/accounts/users.ts'
import { FailureCounter, type FailurePolicy } from '../guard/failure-counter.ts'
import { LoginThrottle } from '../guard/login-throttle.ts'
import { readTyped } from '../typed-code.ts'
import { Challenges } from './challenges.ts'
import { Passkeys } from './passkeys.ts'
import { createRecoveryCodes, hashRecoveryCode } from './recovery-codes.ts'
import type { Added, CodeInput, FactorInput, NewRecoveryCodes, SecondFactorOptions } from './second-factor-options.ts'
import { findDrift, findStep, totpSecretBytes, writeBase32, writeKeyUri } from './totp.ts'

/** Incorrect codes per account and hour, from everywhere. At any time, three of a million codes are valid. */
const wrongCodesFromEverywhere = 20
const hourMs = 3_600_000
const maxPasskeyNameLength = 64

/** After this many incorrect codes in an hour, the user is notified once. */
const tellingPolicy: FailurePolicy = {
  free: 5,
  blockedUntilMs: ({ count, firstMs }) => (count < 5 ? 0 : firstMs + hourMs),
  ...{ lastsMs: hourMs, isRenewed: false },
}

/** The secret of an authenticator app as a URI and in a form that people can type. */
export type AppSecret = { readonly secret: Uint8Array; readonly uri: string; readonly typed: string }

export class SecondFactorService {
  readonly passkeys: Passkeys
  readonly #options: SecondFactorOptions
  readonly #throttle: LoginThrottle
  readonly #wrong = new FailureCounter(tellingPolicy)

  constructor(options: SecondFactorOptions) {
    const { store, clock, challengeKey, handleKey, publicUrl } = options
    this.#options = options
    this.#throttle = new LoginThrottle({
      ...{ clock, rows: store.failures, kind: 'code' },
      fromEverywhere: wrongCodesFromEverywhere,
    })
    const challenges = new Challenges(challengeKey, clock, store.usedValues)
    this.passkeys = new Passkeys({ rows: store.secondFactors, challenges, publicUrl, handleKey })
  }

  list(userId: number): Promise<SecondFactorList> {
    return this.#options.store.secondFactors.list(userId)
  }

  /** True if any user can sign in with a passkey alone. */
  async hasPasskeys(): Promise<boolean> {
    return this.passkeys.arePossible && (await this.#options.store.secondFactors.hasPasskeys())
  }

  isRequiredOfOwners(): Promise<boolean> {
    return this.#options.store.settings.isSecondFactorRequired()
  }

  /** True if this user must set up a second factor before anything else. */
  async isMissing({ isOwner, hasSecondFactor }: User): Promise<boolean> {
    return isOwner && !hasSecondFactor && (await this.isRequiredOfOwners())
  }

  /** Sets whether owners need a second factor, from their next sign-in on. Must be called on behalf of an owner. */
  async require(isRequired: boolean, { user, context }: Omit<FactorInput, 'session'>): Promise<void> {
    const { store, audit } = this.#options
    await store.settings.setSecondFactorRequired(isRequired)
    const detail = { second_factor_required: isRequired ? 'owners' : 'nobody' }
    audit.write({ event: 'settings.changed', userId: user.id, subject: user.email, context, detail })
  }

  /**
   * Returns whether the code was of the app or a recovery code, or undefined if it is incorrect. Each code works once.
   * Throws 'rate_limited' after too many incorrect codes, even for correct ones.
   */
  async takeCode(input: CodeInput): Promise<'app' | 'recovery_code' | undefined> {
    const { user, code, context, device } = input
    const knownAs = this.#options.devices.isKnown(device, user) ? device : undefined
    const attempt = await this.#throttle.begin({ account: `user ${user.id}`, ip: context.ip, knownAs })
    let outcome: 'right' | 'wrong' | 'undecided' = 'undecided'
    let method: 'app' | 'recovery_code' | undefined
    try {
      method = (await this.#takeAppCode(user.id, code)) ?? (await this.#takeRecoveryCode(input))
      outcome = method === undefined ? 'wrong' : 'right'
    } finally {
      await attempt.end(outcome)
    }
    this.#note(input, method !== undefined, { method: method ?? 'code', ...(!method && (await this.#explain(input))) })
    this.#reportWrongCodes(input, method !== undefined)
    return method
  }

  /** `text` is the browser's response and `owner` that of the challenge. Throws like `Passkeys.check`. */
  async isPasskeyRight({ user, text, owner, ...rest }: PasskeyInput): Promise<boolean> {
    const answer = await this.passkeys.check(text, { purpose: 'second', owner, userId: user.id })
    const isRight = answer.outcome === 'right'
    this.#note({ user, ...rest }, isRight, { method: 'passkey', ...(!isRight && { reason: answer.outcome }) })
    return isRight
  }

  /**
   * Returns the user of a passkey that the authenticator has verified. Returns undefined if the response is invalid or
   * the account is disabled.
   */
  async findByPasskey({ text, owner, context }: Omit<PasskeyInput, 'user' | 'via'>): Promise<User | undefined> {
    const answer = await this.passkeys.check(text, { purpose: 'alone', owner })
    const userId = answer.outcome === 'right' ? answer.passkey.userId : answer.userId
    const user = userId === undefined ? undefined : await this.#options.store.users.find(userId)
    const isRight = answer.outcome === 'right' && user?.disabledAtMs === null
    const reason = answer.outcome === 'right' ? 'disabled' : user ? answer.outcome : 'unknown passkey'
    this.#options.audit.write({
      event: isRight ? 'login.ok' : 'login.failed',
      ...(user && { userId: user.id, subject: user.email }),
      context,
      detail: { via: 'passkey', ...(!isRight && { reason }) },
    })
    return isRight ? user : undefined
  }

  /** A new secret, unless one is given. Seal it until `addApp`, so that the browser cannot replace it. */
  createAppSecret({ email }: User, secret: Uint8Array = this.#options.randomBytes(totpSecretBytes)): AppSecret {
    const { host } = new URL(this.#options.publicUrl)
    const uri = writeKeyUri({ secret, account: email, issuer: `Nightjar ${writeLabel(host)}` })
    return { secret, uri, typed: (writeBase32(secret).match(/.{1,4}/g) ?? []).join(' ') }
  }

  /**
   * Throws 'invalid' naming `code` if it is not the app's, 'conflict' if there is an app, and 'unauthenticated' like
   * all changes.
   */
  async addApp(input: FactorInput, { secret }: Pick<AppSecret, 'secret'>, code: string): Promise<Added> {
    const { store, clock } = this.#options
    const usedStep = findStep(secret, readTyped(code), clock.nowMs())
    if (usedStep === undefined) throw invalidAccount('app_code_wrong', 'code')
    const app = { secret: Buffer.from(secret).toString('base64url'), usedStep }
    return this.#add(input, 'app added', (hashes) => store.secondFactors.addApp(changerOf(input), app, hashes))
  }

  /**
   * `text` is the browser's response and `owner` that of the challenge. Throws 'invalid', 'conflict' and
   * 'unauthenticated'.
   */
  async addPasskey(input: FactorInput, { text, owner, name }: NewPasskeyInput): Promise<Added> {
    const read = await this.passkeys.readNew(text, owner, input.user.id)
    const passkey = {
      ...read,
      name: name
        .replaceAll(/\p{Cc}/gu, ' ')
        .trim()
        .slice(0, maxPasskeyNameLength),
    }
    const { secondFactors } = this.#options.store
    return this.#add(input, 'passkey added', (hashes) => secondFactors.addPasskey(changerOf(input), passkey, hashes))
  }

  /** Throws 'not_found', 'conflict' for the last factor of a user who needs one, and 'unauthenticated'. */
  async removeApp(input: FactorInput): Promise<User> {
    const mustStay = await this.#mustStay(input.user)
    const user = await this.#options.store.secondFactors.removeApp(changerOf(input), mustStay)
    this.#notifyUser(input, 'app removed')
    return user
  }

  /** Throws like `removeApp`. */
  async removePasskey(input: FactorInput, id: string): Promise<User> {
    const mustStay = await this.#mustStay(input.user)
    const user = await this.#options.store.secondFactors.removePasskey(changerOf(input), id, mustStay)
    this.#notifyUser(input, 'passkey removed')
    return user
  }

  /**
   * Replaces the recovery codes. The new ones are shown once. Throws 'not_found' without a second factor, and
   * 'unauthenticated'.
   */
  async replaceRecoveryCodes(input: FactorInput): Promise<NewRecoveryCodes> {
    const { codes, hashes } = this.#createRecoveryCodes(input.user.id)
    const user = await this.#options.store.secondFactors.replaceRecoveryCodes(changerOf(input), hashes)
    this.#notifyUser(input, 'recovery codes replaced')
    return { user, recoveryCodes: codes }
  }

  async #add(
    input: FactorInput,
    news: 'app added' | 'passkey added',
    write: (recoveryHashes: Uint8Array[]) => Promise<FactorAddition>,
  ): Promise<Added> {
    const { codes, hashes } = this.#createRecoveryCodes(input.user.id)
    const { user, isFirst } = await write(hashes)
    this.#notifyUser(input, news)
    return { user, recoveryCodes: isFirst ? codes : undefined }
  }

  #createRecoveryCodes(userId: number): { readonly codes: string[]; readonly hashes: Uint8Array[] } {
    const codes = createRecoveryCodes(this.#options.randomBytes)
    return { codes, hashes: codes.map((code) => hashRecoveryCode(userId, code)!) }
  }

  async #mustStay({ isOwner }: User): Promise<boolean> {
    return isOwner && (await this.isRequiredOfOwners())
  }

  async #takeAppCode(userId: number, typed: string): Promise<'app' | undefined> {
    const code = readTyped(typed)
    const { store, clock } = this.#options
    if (!/^\d{6}$/.test(code)) return undefined
    const secret = await store.secondFactors.findAppSecret(userId)
    if (secret === undefined) return undefined
    const step = findStep(Buffer.from(secret, 'base64url'), code, clock.nowMs())
    return step !== undefined && (await store.secondFactors.takeStep(userId, step)) ? 'app' : undefined
  }

  /** For the audit log only: a person who guesses must not learn that a code is right at another time. */
  async #explain({ user, code }: CodeInput): Promise<{ readonly reason?: string }> {
    const { store, clock } = this.#options
    const secret = await store.secondFactors.findAppSecret(user.id)
    const drift = secret && findDrift(Buffer.from(secret, 'base64url'), readTyped(code), clock.nowMs())
    if (!drift || Math.abs(drift) <= 30) return {}
    const where = drift > 0 ? 'behind' : 'ahead of'
    return { reason: `the clock of this server is ${Math.abs(drift)} s ${where} that of the app` }
  }

  async #takeRecoveryCode({ user, code, context }: CodeInput): Promise<'recovery_code' | undefined> {
    const hash = hashRecoveryCode(user.id, code)
    const { store, notify } = this.#options
    const recoveryCodesLeft = hash && (await store.secondFactors.takeRecoveryCode(user.id, hash))
    if (recoveryCodesLeft === undefined) return undefined
    notify({ user, news: 'recovery code used', context, recoveryCodesLeft })
    return 'recovery_code'
  }

  #reportWrongCodes({ user, context }: CodeInput, isRight: boolean): void {
    const key = String(user.id)
    const nowMs = this.#options.clock.monotonicMs()
    if (isRight) {
      this.#wrong.forgive(key)
      return
    }
    const wasNotified = this.#wrong.waitMs(key, nowMs) > 0
    this.#wrong.begin(key, nowMs)
    this.#wrong.end(key, true, nowMs)
    if (!wasNotified && this.#wrong.waitMs(key, nowMs) > 0) this.#options.notify({ user, news: 'wrong codes', context })
  }

  #note(
    { user, context, via }: Pick<CodeInput, 'user' | 'context' | 'via'>,
    isRight: boolean,
    detail: Readonly<Record<string, string>>,
  ): void {
    const event = isRight ? 'second_factor.ok' : 'second_factor.failed'
    this.#options.audit.write({ event, userId: user.id, subject: user.email, context, detail: { via, ...detail } })
  }

  #notifyUser({ user, context }: Omit<FactorInput, 'session'>, news: keyof typeof auditEvents): void {
    this.#options.audit.write({ event: auditEvents[news], userId: user.id, subject: user.email, context })
    this.#options.notify({ user, news, context })
  }
}

type PasskeyInput = Omit<CodeInput, 'code' | 'device'> & { readonly text: string; readonly owner: string }

export type NewPasskeyInput = { readonly text: string; readonly owner: string; readonly name: string }

const auditEvents = {
  'app added': 'second_factor.app_added',
  'app removed': 'second_factor.app_removed',
  'passkey added': 'second_factor.passkey_added',
  'passkey removed': 'second_factor.passkey_removed',
  'recovery codes replaced': 'second_factor.recovery_codes_replaced',
  'recovery code used': 'second_factor.recovery_code_used',
} as const

function changerOf({ user, session }: FactorInput): FactorChanger {
  return { userId: user.id, credentialsVersion: session.credentialsVersion, sessionId: session.id }
}

/** The port apart, and an IPv6 address without brackets. */
const writeLabel = (host: string): string => host.replace(/:(\d+)$/, ' $1').replaceAll(/[[\]]/g, '')

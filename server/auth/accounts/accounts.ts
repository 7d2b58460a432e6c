// Accounts: how they begin (set-up, invitation, sign-up), change (password, address) and end. What depends on whether an address
// has an account is never told to who asks: it goes by mail to the address itself.

import { AppError } from '../../base/error.ts'
import { parseEmail } from '../../model/email.ts'
import { parsePersonName } from '../../model/person-name.ts'
import type { LinkKind } from '../../store/links.ts'
import type { User } from '../../store/users.ts'
import { checkPassword } from '../password.ts'
import type { RequestContext } from '../request-context.ts'
import { createLinkToken, createSetupCode, hashLinkToken, hashSetupCode, writeLink } from './account-links.ts'
import { AccountMails, type ReuseNotice } from './account-mails.ts'
import type { AccountsOptions, By, NewAccount, SignUp } from './accounts-options.ts'
import { Later } from './later.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const lifetimesMs = { setup: 7 * dayMs, invitation: 7 * dayMs, reset: hourMs, email: dayMs } as const
const invitationLimits = { perAddressAndDay: 3, perSenderAndHour: 20 }
const resetLimits = { perAddressAndDay: 3 }

export class Accounts {
  readonly #options: AccountsOptions
  readonly #mails: AccountMails
  readonly #later: Later

  constructor(options: AccountsOptions) {
    this.#options = options
    this.#mails = new AccountMails(options)
    this.#later = new Later(options.log)
  }

  get signUp(): SignUp {
    return this.#options.signUp
  }

  /** Whether the first owner is still to come. */
  async isSetupPending(): Promise<boolean> {
    return (await this.#options.store.users.count()) === 0
  }

  /** For whoever sees the server's console. In place of the one before; works once, within 7 days. */
  async createSetupCode(): Promise<string> {
    const code = createSetupCode(this.#options.randomBytes)
    await this.#insertLink('setup', hashSetupCode(code)!, {})
    return code
  }

  /** Makes the first owner. Throws 'invalid' for a wrong code and 'conflict' when there are users already. */
  async setUp(input: NewAccount & { readonly code: string; readonly email: string } & By): Promise<User> {
    const { store, passwords, audit } = this.#options
    const email = parseEmail(input.email)
    const names = readNames(input)
    checkPassword(input.password, [email])
    const codeHash = hashSetupCode(input.code)
    // Before the password is hashed: guesses must not cost more than a look-up.
    if (!codeHash || !(await store.links.find('setup', codeHash))) {
      if (!(await this.isSetupPending())) throw new AppError('conflict', 'This server is set up already.')
      const reason = 'This is not the set-up code, or it has expired.'
      throw new AppError('invalid', reason, { fields: { code: [reason] } })
    }
    const passwordHash = await passwords.hash(input.password)
    const user = await store.accounts.setUp(codeHash, { ...names, email, passwordHash })
    audit.write({ event: 'user.created', ...about(user, input), detail: { via: 'setup', owner: true } })
    return user
  }

  /**
   * Sends a link to make an account, or a notice if there is one already; who invites cannot tell. Throws 'forbidden' when nobody
   * may invite, 'invalid' for a malformed address and 'rate_limited'.
   */
  async invite(input: { email: string; inviterId: number; cameraId?: number } & By): Promise<void> {
    const { store, audit, signUp } = this.#options
    const email = parseEmail(input.email)
    if (signUp === 'closed') throw new AppError('forbidden', 'accounts are made by owners alone')
    const inviter = await store.users.get(input.inviterId)
    await this.#takeMail({ purpose: 'invitation', email, senderId: inviter.id })
    audit.write({ event: 'user.invited', userId: inviter.id, subject: email, ...withContext(input) })
    this.#later.do('an invitation was not sent', () =>
      this.#sendInvitation(email, { inviter, cameraId: input.cameraId }),
    )
  }

  /** As an invitation, from nobody. Throws 'forbidden' unless everybody may have an account. */
  async requestSignUp(emailText: string, context?: RequestContext): Promise<void> {
    const { audit, signUp } = this.#options
    const email = parseEmail(emailText)
    if (signUp !== 'open') throw new AppError('forbidden', 'accounts are made by invitation alone')
    await this.#takeMail({ purpose: 'invitation', email })
    audit.write({ event: 'user.signup_requested', subject: email, ...withContext({ context }) })
    this.#later.do('a sign-up was not answered', () => this.#sendInvitation(email, {}))
  }

  /** What the page of an invitation shows; undefined when the link is not good (any more). */
  async findInvitation(token: string): Promise<{ readonly email: string; readonly inviterEmail?: string } | undefined> {
    const { store } = this.#options
    const link = await this.#findLink('invitation', token)
    if (!link || this.#isRefused(link.inviterId)) return undefined
    const inviter = link.inviterId === null ? undefined : await store.users.find(link.inviterId)
    return { email: link.email!, ...(inviter && { inviterEmail: inviter.email }) }
  }

  /** Throws 'not_found' for a link that is not good, 'conflict' when there is an account by now, 'invalid' naming fields. */
  async acceptInvitation(input: NewAccount & { readonly token: string } & By): Promise<User> {
    const { store, passwords, audit } = this.#options
    const hash = hashLinkToken(input.token)
    const found = hash && (await this.findInvitation(input.token))
    if (!found) throw badLink()
    const names = readNames(input)
    checkPassword(input.password, [found.email])
    const passwordHash = await passwords.hash(input.password)
    const { user, link } = await store.accounts.acceptInvitation(hash, { ...names, passwordHash })
    const via = link.inviterId === null ? 'sign_up' : 'invitation'
    audit.write({ event: 'user.created', ...about(user, input), detail: { via } })
    return user
  }

  /** Sends a link to choose a new password, if there is such an account. Says nothing, and takes as long, if there is none. */
  async requestReset(email: string, context?: RequestContext): Promise<void> {
    this.#later.do('a link for a new password was not sent', () => this.#sendReset(email, context))
  }

  /** What the page behind the link shows; undefined when the link is not good (any more). */
  async findReset(token: string): Promise<{ readonly email: string } | undefined> {
    const link = await this.#findLink('reset', token)
    const user = link && (await this.#options.store.users.find(link.userId!))
    return user?.disabledAtMs === null ? { email: user.email } : undefined
  }

  /** Ends all sessions and grants of the account. Throws 'not_found' for a link that is not good, 'invalid' naming `password`. */
  async reset(input: { token: string; password: string; revokePersonalTokens?: boolean } & By): Promise<User> {
    const { store, passwords, audit } = this.#options
    const { token, password, revokePersonalTokens: personalTokens = false } = input
    const hash = hashLinkToken(token)
    const found = hash && (await this.findReset(token))
    if (!found) throw badLink()
    checkPassword(password, [found.email])
    const passwordHash = await passwords.hash(password)
    const user = await store.accounts.resetPassword(hash, passwordHash, { reason: 'password_reset', personalTokens })
    audit.write({ event: 'password.reset', ...about(user, input), detail: { personal_tokens_revoked: personalTokens } })
    this.#later.do('a notice of a new password was not sent', () => this.#mails.passwordChanged(user, input.context))
    return user
  }

  /**
   * By the user, who gives the present password again. Ends all grants and all sessions but `exceptSessionId`. Throws 'invalid'
   * naming `password` or `new_password`; 'rate_limited' as a log-in does.
   */
  async changePassword(
    input: {
      userId: number
      password: string
      newPassword: string
      exceptSessionId?: string
      revokePersonalTokens?: boolean
    } & By,
  ): Promise<void> {
    const { store } = this.#options
    const user = await store.users.get(input.userId)
    checkNewPassword(input.newPassword, user.email)
    await this.#checkOwnPassword(user, input.password, input.context)
    await this.#replacePassword(user, input.newPassword, input)
  }

  /** By an owner: without the present password. As `changePassword` else. */
  async setPassword(
    input: { userId: number; newPassword: string; revokePersonalTokens?: boolean } & By,
  ): Promise<void> {
    const user = await this.#options.store.users.get(input.userId)
    checkNewPassword(input.newPassword, user.email)
    await this.#replacePassword(user, input.newPassword, input)
  }

  /**
   * Sends a link to the new address, which is the account's once the link was used. Says nothing about whether another account has
   * the address. Throws 'invalid' naming `email` or `password`, and 'rate_limited'.
   */
  async requestEmailChange(input: { userId: number; email: string; password: string } & By): Promise<void> {
    const { store, audit } = this.#options
    const email = parseEmail(input.email)
    const user = await store.users.get(input.userId)
    await this.#checkOwnPassword(user, input.password, input.context)
    await this.#takeMail({ purpose: 'email', email, senderId: user.id })
    audit.write({ event: 'email.change_requested', ...about(user, input) })
    this.#later.do('a link for a new address was not sent', async () => {
      const other = await store.users.findByEmail(email)
      if (other && other.id !== user.id) return
      const token = createLinkToken(this.#options.randomBytes)
      await this.#insertLink('email', hashLinkToken(token)!, { userId: user.id, email })
      await this.#mails.confirmEmail(email, user, writeLink(this.#options.publicUrl, 'email', token))
    })
  }

  /** What the page behind the link shows. */
  async findEmailChange(token: string): Promise<{ readonly email: string } | undefined> {
    const link = await this.#findLink('email', token)
    return link && { email: link.email! }
  }

  /** Throws 'not_found' for a link that is not good and 'conflict' when another account has the address by now. */
  async confirmEmail({ token, ...by }: { token: string } & By): Promise<User> {
    const hash = hashLinkToken(token)
    if (!hash) throw badLink()
    const { user, formerEmail } = await this.#options.store.accounts.changeEmail(hash)
    this.#options.audit.write({ event: 'email.changed', ...about(user, by), detail: { former: formerEmail } })
    this.#later.do('a notice of a new address was not sent', () => this.#mails.emailChanged(formerEmail, user))
    return user
  }

  /** By an owner. Throws 'invalid' naming fields and 'conflict' when there is an account for the address. */
  async add(input: NewAccount & { email: string; phone?: string | null; isOwner?: boolean } & By): Promise<User> {
    const { store, passwords, audit } = this.#options
    const { phone = null, isOwner = false } = input
    const email = parseEmail(input.email)
    const names = readNames(input)
    checkPassword(input.password, [email])
    const passwordHash = await passwords.hash(input.password)
    const user = await store.users.insert({ ...names, email, phone, isOwner, passwordHash })
    audit.write({
      event: 'user.created',
      ...about(user, input),
      detail: { via: 'owner', owner: isOwner, ...by(input) },
    })
    return user
  }

  /** Ends all sessions and grants; personal tokens are refused until it is enabled again. Throws 'not_found' and 'conflict'. */
  async disable(userId: number, input: By = {}): Promise<User> {
    const user = await this.#options.store.accounts.setDisabled(userId, true)
    this.#options.audit.write({ event: 'user.disabled', ...about(user, input), detail: by(input) })
    return user
  }

  async enable(userId: number, input: By = {}): Promise<User> {
    const user = await this.#options.store.accounts.setDisabled(userId, false)
    this.#options.audit.write({ event: 'user.enabled', ...about(user, input), detail: by(input) })
    return user
  }

  /** Throws 'not_found', and 'conflict' for the last owner. */
  async setOwner(userId: number, isOwner: boolean, input: By = {}): Promise<User> {
    const user = await this.#options.store.accounts.setOwner(userId, isOwner)
    this.#options.audit.write({
      event: 'user.changed',
      ...about(user, input),
      detail: { owner: isOwner, ...by(input) },
    })
    return user
  }

  /** For good. Throws 'not_found', and 'conflict' for the last owner, and for cameras unless `withCameras`. */
  async remove(userId: number, input: By & { readonly withCameras?: boolean } = {}): Promise<void> {
    const user = await this.#options.store.accounts.remove(userId, { withCameras: input.withCameras ?? false })
    this.#options.audit.write({ event: 'user.removed', ...about(user, input), detail: by(input) })
  }

  /** Tells a user that a used refresh token came again; for `OAuthOptions.onReuse`. Never throws. */
  notifyReuse(notice: ReuseNotice): void {
    try {
      this.#later.do('a notice of a stolen token was not sent', () => this.#mails.reuse(notice))
    } catch {
      // Too much is to be done already; the audit log has it.
    }
  }

  /** Resolves when everything that was begun, mails included, is done. */
  async flush(): Promise<void> {
    await this.#later.flush()
  }

  /** Forgets by the hour what has expired; ends when `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { store, clock } = this.#options
    while (!signal.aborted) {
      await store.links.removeExpired()
      await store.mails.removeOld()
      await clock.sleep(hourMs, signal).catch(() => {})
    }
    await this.flush()
  }

  async #sendInvitation(email: string, { inviter, cameraId }: { inviter?: User; cameraId?: number | undefined }) {
    const { store, randomBytes, publicUrl } = this.#options
    if (await store.users.findByEmail(email)) {
      await this.#mails.alreadyMember(email, inviter)
      return
    }
    const token = createLinkToken(randomBytes)
    await this.#insertLink('invitation', hashLinkToken(token)!, {
      email,
      inviterId: inviter?.id ?? null,
      cameraId: cameraId ?? null,
    })
    await this.#mails.invitation(email, inviter, writeLink(publicUrl, 'invitation', token))
  }

  async #sendReset(email: string, context: RequestContext | undefined): Promise<void> {
    const { store, audit, randomBytes, publicUrl } = this.#options
    const user = isAddress(email) ? await store.users.findByEmail(email) : undefined
    audit.write({
      event: 'password.reset_requested',
      ...(user && { userId: user.id, subject: user.email }),
      ...withContext({ context }),
    })
    if (user?.disabledAtMs !== null) return
    if (!(await store.mails.take({ purpose: 'reset', email: user.email }, resetLimits))) return
    const token = createLinkToken(randomBytes)
    await this.#insertLink('reset', hashLinkToken(token)!, { userId: user.id })
    await this.#mails.reset(user, writeLink(publicUrl, 'reset', token))
  }

  async #checkOwnPassword(user: User, password: string, context: RequestContext | undefined): Promise<void> {
    const { login } = this.#options
    const who = context ?? { ip: 'unknown', userAgent: undefined }
    // A log-in like any other, so that it is throttled and recorded like one.
    if (await login.verify({ email: user.email, password, context: who, via: 'account' })) return
    const reason = 'This is not your password.'
    throw new AppError('invalid', reason, { fields: { password: [reason] } })
  }

  async #replacePassword(
    user: User,
    newPassword: string,
    input: { exceptSessionId?: string; revokePersonalTokens?: boolean } & By,
  ): Promise<void> {
    const { store, passwords, audit } = this.#options
    const { exceptSessionId, revokePersonalTokens: personalTokens = false } = input
    const passwordHash = await passwords.hash(newPassword)
    const reason = 'password_changed'
    await store.accounts.changePassword(user.id, passwordHash, { reason, exceptSessionId, personalTokens })
    const detail = { personal_tokens_revoked: personalTokens, ...by(input) }
    audit.write({ event: 'password.changed', ...about(user, input), detail })
    this.#later.do('a notice of a new password was not sent', () => this.#mails.passwordChanged(user, input.context))
  }

  async #insertLink(
    kind: LinkKind,
    hash: Uint8Array,
    of: { userId?: number; email?: string; inviterId?: number | null; cameraId?: number | null },
  ): Promise<void> {
    const { store, clock } = this.#options
    await store.links.insert({ kind, hash, expiresAtMs: clock.nowMs() + lifetimesMs[kind], ...of })
  }

  async #findLink(kind: Exclude<LinkKind, 'setup'>, token: string) {
    const hash = hashLinkToken(token)
    return hash && this.#options.store.links.find(kind, hash)
  }

  /** Links that were sent while more people might have accounts than today. */
  #isRefused(inviterId: number | null): boolean {
    const { signUp } = this.#options
    return signUp === 'closed' || (inviterId === null && signUp !== 'open')
  }

  async #takeMail(mail: { purpose: string; email: string; senderId?: number }): Promise<void> {
    if (await this.#options.store.mails.take(mail, invitationLimits)) return
    throw new AppError('rate_limited', 'too many mails to this address, or too many from you', {
      retryAfterSeconds: 3600,
    })
  }
}

function readNames({ firstName, lastName }: NewAccount): { firstName: string; lastName: string } {
  return { firstName: parsePersonName(firstName, 'first_name'), lastName: parsePersonName(lastName, 'last_name') }
}

function checkNewPassword(newPassword: string, email: string): void {
  try {
    checkPassword(newPassword, [email])
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new AppError('invalid', error.message, { cause: error, fields: { new_password: [error.message] } })
  }
}

function isAddress(text: string): boolean {
  try {
    parseEmail(text)
    return true
  } catch {
    return false
  }
}

function badLink(): AppError {
  return new AppError('not_found', 'the link was used, has expired, or never existed')
}

function withContext({ context }: By): { context?: RequestContext } {
  return context ? { context } : {}
}

function about(user: User, input: By) {
  return { userId: user.id, subject: user.email, ...withContext(input) }
}

function by({ byUserId }: By): { by_user?: number } {
  return byUserId === undefined ? {} : { by_user: byUserId }
}

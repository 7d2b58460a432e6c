// Lets users change their password and email address. They must know the password or have access to the mailbox.

import { AppError } from '../../base/error.ts'
import { invalidAccount } from '../../model/account-fault.ts'
import { parseEmail } from '../../model/email.ts'
import type { User } from '../../store/accounts/users.ts'
import { checkPassword } from '../password.ts'
import type { RequestContext } from '../request-context.ts'
import { createLinkToken, hashLinkToken, writeLink } from './account-links.ts'
import type { AccountMails } from './account-mails.ts'
import { type AccountParts, about, by, withContext } from './account-parts.ts'
import type {
  AccountsOptions,
  ChangeEmailInput,
  ChangePasswordInput,
  ConfirmEmailInput,
  ProvePasswordInput,
  ResetInput,
} from './accounts-options.ts'
import type { BackgroundQueue } from './background-queue.ts'
import { badLink, type LinkService } from './link-service.ts'

export class AccountSelfService {
  readonly #options: AccountsOptions
  readonly #links: LinkService
  readonly #mails: AccountMails
  readonly #background: BackgroundQueue

  constructor({ options, links, mails, background }: AccountParts) {
    this.#options = options
    this.#links = links
    this.#mails = mails
    this.#background = background
  }

  /**
   * Sends a link to choose a new password if the account exists. Callers cannot tell whether it does, not even from the
   * duration. Throws 'rate_limited' after too many requests from one IP address.
   */
  async requestReset(email: string, context?: RequestContext): Promise<void> {
    if (context) this.#links.takeSource('reset', context.ip)
    this.#background.do('a link to reset a password could not be sent', () => this.#sendReset(email, context))
  }

  /** Returns what the page behind the link shows, or undefined if the link is not valid. */
  async findReset(token: string): Promise<{ readonly email: string } | undefined> {
    const link = await this.#links.find('reset', token)
    const user = link && (await this.#options.store.users.find(link.userId!))
    return user?.disabledAtMs === null ? { email: user.email } : undefined
  }

  /**
   * Sets a new password and ends all sessions and grants. Throws 'not_found' for an invalid link and 'invalid' naming
   * `password`.
   */
  async reset(input: ResetInput): Promise<User> {
    const { store, passwords, login, audit } = this.#options
    const { token, password, revokePersonalTokens: personalTokens = false } = input
    const hash = hashLinkToken(token)
    const found = hash && (await this.findReset(token))
    if (!found) throw badLink()
    await checkPassword(password, [found.email])
    const passwordHash = await passwords.hash(password)
    const user = await store.accounts.resetPassword(hash, passwordHash, { personalTokens })
    await login.forgive(user.email, input.context ?? unknownContext)
    audit.write({ event: 'password.reset', ...about(user, input), detail: { personal_tokens_revoked: personalTokens } })
    this.#background.notify('a notice about a changed password could not be sent', () =>
      this.#mails.passwordChanged(user, input.context),
    )
    return user
  }

  /**
   * Changes the password of a user who enters the current one. Ends all grants, and all sessions except
   * `exceptSessionId`. Throws 'invalid' naming `password` or `new_password`, and 'rate_limited' like a sign-in.
   */
  async changePassword(input: ChangePasswordInput): Promise<User> {
    const { store, passwords, audit } = this.#options
    const { newPassword, exceptSessionId, revokePersonalTokens: personalTokens = false } = input
    const user = await store.users.get(input.userId)
    await checkPassword(newPassword, [user.email], 'new_password')
    const { credentialsVersion } = await this.#checkOwnPassword(user, input)
    const passwordHash = await passwords.hash(newPassword)
    const options = { credentialsVersion, exceptSessionId, personalTokens }
    const changed = await store.accounts.change(user.id, { passwordHash }, options).catch((error: unknown) => {
      // The password was changed at the same time, so the one that was entered is no longer the current one.
      throw error instanceof AppError && error.kind === 'unauthenticated' ? wrongPassword() : error
    })
    const detail = { personal_tokens_revoked: personalTokens, ...by(input) }
    audit.write({ event: 'password.changed', ...about(user, input), detail })
    this.#background.notify('a notice about a changed password could not be sent', () =>
      this.#mails.passwordChanged(user, input.context),
    )
    return changed.user
  }

  /**
   * Sends a link to the new email address. The address changes when the link is used. Does not reveal whether another
   * account has the address. Throws 'invalid' naming `email` or `password`, and 'rate_limited'.
   */
  async requestEmailChange(input: ChangeEmailInput): Promise<void> {
    const { store, audit } = this.#options
    const email = parseEmail(input.email)
    const user = await store.users.get(input.userId)
    const { credentialsVersion } = await this.#checkOwnPassword(user, input)
    this.#background.check()
    await this.#links.takeMail({ purpose: 'email', email, senderId: user.id })
    audit.write({ event: 'email.change_requested', ...about(user, input) })
    this.#background.do('a link to confirm an email address could not be sent', async () => {
      const other = await store.users.findByEmail(email)
      if (other && other.id !== user.id) return
      const token = createLinkToken(this.#options.randomBytes)
      await this.#links.insert('email', hashLinkToken(token)!, { userId: user.id, credentialsVersion, email })
      await this.#mails.confirmEmail(email, user, writeLink(this.#options.publicUrl, 'email', token))
    })
  }

  /** Returns what the page behind the link shows. */
  async findEmailChange(token: string): Promise<{ readonly userId: number; readonly email: string } | undefined> {
    const link = await this.#links.find('email', token)
    return link && { userId: link.userId!, email: link.email! }
  }

  /**
   * Confirms a new email address for the signed-in user, because the link alone proves only access to the mailbox. Ends
   * all grants, and all sessions except `exceptSessionId`. Throws 'not_found' if the link is invalid or belongs to
   * another user, and 'conflict' if another account has the address.
   */
  async confirmEmail({ token, userId, exceptSessionId, ...by }: ConfirmEmailInput): Promise<User> {
    const hash = hashLinkToken(token)
    if (!hash) throw badLink()
    const { user, former } = await this.#options.store.accounts.changeEmail(hash, userId, { exceptSessionId })
    const formerEmail = former.email
    this.#options.audit.write({ event: 'email.changed', ...about(user, by), detail: { former: formerEmail } })
    this.#background.notify('a notice about a changed email address could not be sent', () =>
      this.#mails.emailChanged(formerEmail, user),
    )
    return user
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
    if (!(await this.#links.canMail({ purpose: 'reset', email: user.email }))) return
    const token = createLinkToken(randomBytes)
    await this.#links.insert('reset', hashLinkToken(token)!, {
      userId: user.id,
      credentialsVersion: user.credentialsVersion,
    })
    await this.#mails.reset(user, writeLink(publicUrl, 'reset', token))
  }

  /** See `Accounts`. */
  async provePassword(input: ProvePasswordInput): Promise<User> {
    return this.#checkOwnPassword(await this.#options.store.users.get(input.userId), input)
  }

  /** Returns the account as it was when the password was verified. */
  async #checkOwnPassword(user: User, input: OwnProof): Promise<User> {
    const { password, proof, field = 'password', hasSecondFactorProof = false, context = unknownContext } = input
    const { login, store } = this.#options
    // Checked before the password, so that the holder of a stolen token learns nothing about the password.
    if (user.hasSecondFactor && !hasSecondFactorProof) throw invalidAccount('second_factor_elsewhere', field)
    if (!(await store.users.hasPassword(user.id))) throw invalidAccount('password_none', field)
    // Counts as a sign-in, so it is throttled and audited. The session or token identifies the user, so that attacks
    // from elsewhere do not keep the user from changing the password.
    const proven = await login.verify({ email: user.email, password, context, proof, via: 'account' })
    if (proven?.id !== user.id) throw wrongPassword(field)
    return proven
  }
}

type OwnProof = Omit<ProvePasswordInput, 'userId'>

const unknownContext: RequestContext = { ip: 'unknown', userAgent: undefined }

const wrongPassword = (field = 'password') => invalidAccount('password_wrong', field)

function isAddress(text: string): boolean {
  try {
    parseEmail(text)
    return true
  } catch {
    return false
  }
}

// New passwords and addresses: by those who know the present password, or who can read the account's mail.

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
   * Sends a link to choose a new password, if there is such an account. Says nothing, and takes as long, if there is none. Throws
   * 'rate_limited' when too many were asked for from one place.
   */
  async requestReset(email: string, context?: RequestContext): Promise<void> {
    if (context) this.#links.takeSource('reset', context.ip)
    this.#background.do('a link for a new password was not sent', () => this.#sendReset(email, context))
  }

  /** What the page behind the link shows; undefined when the link is not good (any more). */
  async findReset(token: string): Promise<{ readonly email: string } | undefined> {
    const link = await this.#links.find('reset', token)
    const user = link && (await this.#options.store.users.find(link.userId!))
    return user?.disabledAtMs === null ? { email: user.email } : undefined
  }

  /** Ends all sessions and grants of the account. Throws 'not_found' for a link that is not good, 'invalid' naming `password`. */
  async reset(input: ResetInput): Promise<User> {
    const { store, passwords, login, audit } = this.#options
    const { token, password, revokePersonalTokens: personalTokens = false } = input
    const hash = hashLinkToken(token)
    const found = hash && (await this.findReset(token))
    if (!found) throw badLink()
    await checkPassword(password, [found.email])
    const passwordHash = await passwords.hash(password)
    const user = await store.accounts.resetPassword(hash, passwordHash, { personalTokens })
    login.forgive(user.email, input.context ?? unknownContext)
    audit.write({ event: 'password.reset', ...about(user, input), detail: { personal_tokens_revoked: personalTokens } })
    this.#background.notify('a notice of a new password was not sent', () =>
      this.#mails.passwordChanged(user, input.context),
    )
    return user
  }

  /**
   * By the user, who gives the present password again. Ends all grants and all sessions but `exceptSessionId`. Throws 'invalid'
   * naming `password` or `new_password`; 'rate_limited' as a log-in does.
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
      // Somebody else has set another one since: the one that was given is not the present one any more.
      throw error instanceof AppError && error.kind === 'unauthenticated' ? wrongPassword() : error
    })
    const detail = { personal_tokens_revoked: personalTokens, ...by(input) }
    audit.write({ event: 'password.changed', ...about(user, input), detail })
    this.#background.notify('a notice of a new password was not sent', () =>
      this.#mails.passwordChanged(user, input.context),
    )
    return changed.user
  }

  /**
   * Sends a link to the new address, which is the account's once the link was used. Says nothing about whether another account has
   * the address. Throws 'invalid' naming `email` or `password`, and 'rate_limited'.
   */
  async requestEmailChange(input: ChangeEmailInput): Promise<void> {
    const { store, audit } = this.#options
    const email = parseEmail(input.email)
    const user = await store.users.get(input.userId)
    const { credentialsVersion } = await this.#checkOwnPassword(user, input)
    this.#background.check()
    await this.#links.takeMail({ purpose: 'email', email, senderId: user.id })
    audit.write({ event: 'email.change_requested', ...about(user, input) })
    this.#background.do('a link for a new address was not sent', async () => {
      const other = await store.users.findByEmail(email)
      if (other && other.id !== user.id) return
      const token = createLinkToken(this.#options.randomBytes)
      await this.#links.insert('email', hashLinkToken(token)!, { userId: user.id, credentialsVersion, email })
      await this.#mails.confirmEmail(email, user, writeLink(this.#options.publicUrl, 'email', token))
    })
  }

  /** What the page behind the link shows. */
  async findEmailChange(token: string): Promise<{ readonly userId: number; readonly email: string } | undefined> {
    const link = await this.#links.find('email', token)
    return link && { userId: link.userId!, email: link.email! }
  }

  /**
   * By the user, signed in: the link alone proves only who reads the mailbox. Ends all grants and all sessions but
   * `exceptSessionId`. Throws 'not_found' for a link that is not good or another user's, and 'conflict' when another account has
   * the address by now.
   */
  async confirmEmail({ token, userId, exceptSessionId, ...by }: ConfirmEmailInput): Promise<User> {
    const hash = hashLinkToken(token)
    if (!hash) throw badLink()
    const { user, former } = await this.#options.store.accounts.changeEmail(hash, userId, { exceptSessionId })
    const formerEmail = former.email
    this.#options.audit.write({ event: 'email.changed', ...about(user, by), detail: { former: formerEmail } })
    this.#background.notify('a notice of a new address was not sent', () => this.#mails.emailChanged(formerEmail, user))
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

  /** The account as it was when the password was right. */
  async #checkOwnPassword(user: User, input: OwnProof): Promise<User> {
    const { password, proof, field = 'password', hasSecondFactorProof = false, context = unknownContext } = input
    const { login, store } = this.#options
    // Before the password is looked at: whoever found a token learns nothing of it.
    if (user.hasSecondFactor && !hasSecondFactorProof) throw invalidAccount('second_factor_elsewhere', field)
    if (!(await store.users.hasPassword(user.id))) throw invalidAccount('password_none', field)
    // A log-in like any other, so that it is throttled and recorded like one; but a session or token has proved who it is, and
    // an attack from elsewhere must not keep its user from changing the password.
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

// Accounts: how they begin (set-up, invitation, sign-up), change (password, address) and end. What depends on whether an address
// has an account is never told to who asks: it goes by mail to the address itself.

import type { User } from '../../store/users.ts'
import type { ClearNotice } from '../clear-credentials.ts'
import type { RequestContext } from '../request-context.ts'
import type { SecondFactorNotice } from '../second-factor/second-factor-options.ts'
import { AccountAdministration, type RemoveFactorInput } from './account-administration.ts'
import { AccountMails, type IdentityNotice, type ReuseNotice } from './account-mails.ts'
import { AccountSelfService } from './account-self-service.ts'
import type {
  AcceptInput,
  AccountsOptions,
  AddInput,
  By,
  ChangeEmailInput,
  ChangePasswordInput,
  ConfirmEmailInput,
  InviteInput,
  OwnerChangeInput,
  ProvePasswordInput,
  ResetInput,
  SetUpInput,
  SignUp,
} from './accounts-options.ts'
import { BackgroundQueue } from './background-queue.ts'
import { GuestService } from './guest-service.ts'
import { LinkService } from './link-service.ts'
import { type Invitation, SignUpService } from './sign-up-service.ts'

const cleaningIntervalMs = 3_600_000

export class Accounts {
  /** Guests of cameras. */
  readonly guests: GuestService
  readonly #options: AccountsOptions
  readonly #mails: AccountMails
  readonly #background: BackgroundQueue
  readonly #signUps: SignUpService
  readonly #changes: AccountSelfService
  readonly #ownerChanges: AccountAdministration

  constructor(options: AccountsOptions) {
    this.#options = options
    this.#mails = new AccountMails(options)
    this.#background = new BackgroundQueue(options.log)
    const parts = { options, links: new LinkService(options), mails: this.#mails, background: this.#background }
    this.#signUps = new SignUpService(parts)
    this.#changes = new AccountSelfService(parts)
    this.guests = new GuestService(parts)
    this.#ownerChanges = new AccountAdministration(parts)
  }

  get signUp(): SignUp {
    return this.#options.signUp
  }

  /** Whether the first owner is still to come. */
  async isSetupPending(): Promise<boolean> {
    return !(await this.#options.store.users.hasOwner())
  }

  /** For whoever sees the server's console. In place of the one before; works once, within 7 days. */
  createSetupCode(): Promise<string> {
    return this.#signUps.createSetupCode()
  }

  /** Makes the first owner. Throws 'invalid' for a wrong code and 'conflict' when there is an owner already. */
  setUp(input: SetUpInput): Promise<User> {
    return this.#signUps.setUp(input)
  }

  /**
   * Sends a link to make an account, or a notice if there is one already; who invites cannot tell. Throws 'forbidden' when nobody
   * may invite, 'invalid' for a malformed address and 'rate_limited'.
   */
  invite(input: InviteInput): Promise<void> {
    return this.#signUps.invite(input)
  }

  /** As an invitation, from nobody. Throws 'forbidden' unless everybody may have an account, 'conflict' without an owner. */
  requestSignUp(email: string, context?: RequestContext): Promise<void> {
    return this.#signUps.requestSignUp(email, context)
  }

  /** What the page of an invitation shows; undefined when the link is not good (any more). */
  findInvitation(token: string): Promise<Invitation | undefined> {
    return this.#signUps.findInvitation(token)
  }

  /** Throws 'not_found' for a link that is not good, 'conflict' when there is an account or no owner yet, 'invalid' naming fields. */
  acceptInvitation(input: AcceptInput): Promise<User> {
    return this.#signUps.acceptInvitation(input)
  }

  /** By an owner. Throws 'invalid' naming fields and 'conflict' when there is an account for the address. */
  add(input: AddInput): Promise<User> {
    return this.#signUps.add(input)
  }

  /**
   * Sends a link to choose a new password, if there is such an account. Says nothing, and takes as long, if there is none. Throws
   * 'rate_limited' when too many were asked for from one place.
   */
  requestReset(email: string, context?: RequestContext): Promise<void> {
    return this.#changes.requestReset(email, context)
  }

  /** What the page behind the link shows; undefined when the link is not good (any more). */
  findReset(token: string): Promise<{ readonly email: string } | undefined> {
    return this.#changes.findReset(token)
  }

  /** Ends all sessions and grants of the account. Throws 'not_found' for a link that is not good, 'invalid' naming `password`. */
  reset(input: ResetInput): Promise<User> {
    return this.#changes.reset(input)
  }

  /**
   * By the user, who gives the present password again. Ends all grants and all sessions but `exceptSessionId`. Throws 'invalid'
   * naming `password` or `new_password`; 'rate_limited' as a log-in does.
   */
  changePassword(input: ChangePasswordInput): Promise<User> {
    return this.#changes.changePassword(input)
  }

  /**
   * That whoever asks is the user and no one who found a token: the account as it was when the password was right. Throws 'invalid'
   * naming the field, also for an account with a second factor that was not given, and 'rate_limited' as a log-in does.
   */
  provePassword(input: ProvePasswordInput): Promise<User> {
    return this.#changes.provePassword(input)
  }

  /**
   * Sends a link to the new address, which is the account's once the link was used. Says nothing about whether another account has
   * the address. Throws 'invalid' naming `email` or `password`, and 'rate_limited'.
   */
  requestEmailChange(input: ChangeEmailInput): Promise<void> {
    return this.#changes.requestEmailChange(input)
  }

  /** What the page behind the link shows. */
  findEmailChange(token: string): ReturnType<AccountSelfService['findEmailChange']> {
    return this.#changes.findEmailChange(token)
  }

  /**
   * By the user, signed in. Ends all grants and all sessions but `exceptSessionId`. Throws 'not_found' for a link that is not good
   * or another user's, and 'conflict' when another account has the address by now.
   */
  confirmEmail(input: ConfirmEmailInput): Promise<User> {
    return this.#changes.confirmEmail(input)
  }

  /**
   * By an owner, all of it or nothing, with notices to the user. Throws 'invalid' naming fields, 'not_found', and 'conflict' for the
   * last owner or an address that another account has.
   */
  change(userId: number, change: OwnerChangeInput, by?: By): Promise<User> {
    return this.#ownerChanges.change(userId, change, by)
  }

  /** By an owner: ends all sessions and grants, and personal tokens if wished for. Throws 'not_found'. */
  signOut(userId: number, input?: By & { readonly revokePersonalTokens?: boolean }): Promise<User> {
    return this.#ownerChanges.signOut(userId, input)
  }

  /** By an owner, for somebody who lost it. Throws 'not_found', also for an account that has no second factor. */
  removeSecondFactor(userId: number, input: RemoveFactorInput): Promise<User> {
    return this.#ownerChanges.removeSecondFactor(userId, input)
  }

  /** For good. Throws 'not_found', and 'conflict' for the last owner, and for cameras unless `withCameras`. */
  remove(userId: number, input?: By & { readonly withCameras?: boolean }): Promise<void> {
    return this.#ownerChanges.remove(userId, input)
  }

  /** Tells a user that a used refresh token came again; for `OAuthOptions.onReuse`. Never throws. */
  notifyReuse(notice: ReuseNotice): void {
    this.#background.notify('a notice of a stolen token was not sent', () => this.#mails.reuse(notice))
  }

  /** Tells a user of a change of the second factor; for `SecondFactorOptions.notify`. Never throws. */
  notifySecondFactor(notice: SecondFactorNotice): void {
    this.#background.notify('a notice of a second factor was not sent', () => this.#mails.secondFactor(notice))
  }

  /** Tells a user that credentials of the account went over the network in clear; for `ClearCredentials`. Never throws. */
  notifyInClear(notice: ClearNotice): void {
    this.#background.notify('a notice of credentials in clear was not sent', () => this.#mails.inClear(notice))
  }

  /** Tells a user that an identity provider signs in to the account from now on, or not any more. Never throws. */
  notifyIdentity(notice: IdentityNotice): void {
    this.#background.notify('a notice of another way to sign in was not sent', () => this.#mails.identity(notice))
  }

  /** Resolves when everything that was begun, mails included, is done. */
  async flush(): Promise<void> {
    await this.#background.flush()
  }

  /** Forgets by the hour what has expired; ends when `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { store, clock } = this.#options
    while (!signal.aborted) {
      await store.links.removeExpired()
      await store.mails.removeOld()
      await clock.sleep(cleaningIntervalMs, signal).catch(() => {})
    }
    await this.flush()
  }
}

// Changes that owners of the server make to accounts. They do not need the account's password.

import { AppError } from '../../base/error.ts'
import { emailKey, parseEmail } from '../../model/email.ts'
import { parsePersonName } from '../../model/person-name.ts'
import type { User } from '../../store/accounts/users.ts'
import { checkPassword } from '../password.ts'
import type { RequestContext } from '../request-context.ts'
import type { AccountMails } from './account-mails.ts'
import { type AccountParts, about, by } from './account-parts.ts'
import type { AccountsOptions, By, OwnerChangeInput } from './accounts-options.ts'
import type { BackgroundQueue } from './background-queue.ts'

/** `context` is that of the owner's request. */
export type RemoveFactorInput = By & { readonly context: RequestContext; readonly revokePersonalTokens?: boolean }

export class AccountAdministration {
  readonly #options: AccountsOptions
  readonly #mails: AccountMails
  readonly #background: BackgroundQueue

  constructor({ options, mails, background }: AccountParts) {
    this.#options = options
    this.#mails = mails
    this.#background = background
  }

  /**
   * Makes all changes or none. A new password or disabling the account ends its sessions and grants; a new email
   * address invalidates its links. Throws 'invalid' naming fields, 'not_found', and 'conflict' for the last owner or an
   * email address that is in use.
   */
  async change(userId: number, change: OwnerChangeInput, input: By = {}): Promise<User> {
    const { store, passwords } = this.#options
    const { newPassword, revokePersonalTokens: personalTokens = false, ...rest } = change
    const values = readValues(rest)
    const present = await store.users.get(userId)
    if (newPassword !== undefined) await checkPassword(newPassword, [present.email, values.email ?? present.email])
    const passwordHash = newPassword === undefined ? {} : { passwordHash: await passwords.hash(newPassword) }
    const { user, former } = await store.accounts.change(userId, { ...values, ...passwordHash }, { personalTokens })
    this.#note(user, former, { change, personalTokens }, input)
    return user
  }

  /**
   * Ends all sessions and grants and, optionally, revokes personal access tokens. For support and after a theft. Throws
   * 'not_found'.
   */
  async signOut(userId: number, input: By & { readonly revokePersonalTokens?: boolean } = {}): Promise<User> {
    const { revokePersonalTokens: personalTokens = false } = input
    const user = await this.#options.store.accounts.signOut(userId, 'support', { personalTokens })
    const detail = { personal_tokens_revoked: personalTokens, ...by(input) }
    this.#options.audit.write({ event: 'user.signed_out', ...about(user, input), detail })
    return user
  }

  /**
   * Removes all second factors of a user who lost them and ends all sessions. The password alone is then enough to sign
   * in. Throws 'not_found', also if the account has no second factor.
   */
  async removeSecondFactor(userId: number, input: RemoveFactorInput): Promise<User> {
    const { store, audit } = this.#options
    const { revokePersonalTokens: personalTokens = false, context } = input
    const user = await store.transaction(async ({ users, secondFactors, accounts }) => {
      // A second click must not end sessions again.
      if (!(await users.get(userId)).hasSecondFactor) throw noSecondFactor()
      await secondFactors.removeAll(userId)
      return accounts.signOut(userId, 'support', { personalTokens })
    })
    const detail = { personal_tokens_revoked: personalTokens, ...by(input) }
    audit.write({ event: 'second_factor.removed', ...about(user, input), detail })
    this.#background.notify('a notice about a second factor could not be sent', () =>
      this.#mails.secondFactor({ user, news: 'removed by an owner', context }),
    )
    return user
  }

  /**
   * Deletes the account permanently. Throws 'not_found', 'conflict' for the last owner, and 'conflict' for an account
   * with cameras unless `withCameras` is set.
   */
  async remove(userId: number, input: By & { readonly withCameras?: boolean } = {}): Promise<void> {
    const user = await this.#options.store.accounts.remove(userId, { withCameras: input.withCameras ?? false })
    this.#options.audit.write({ event: 'user.removed', ...about(user, input), detail: by(input) })
  }

  #note(user: User, former: User, what: { change: OwnerChangeInput; personalTokens: boolean }, input: By): void {
    const { audit } = this.#options
    const { change } = what
    const who = about(user, input)
    const [isDisabled, wasDisabled] = [user.disabledAtMs !== null, former.disabledAtMs !== null]
    const personalTokens = what.personalTokens || (isDisabled && !wasDisabled)
    if (change.newPassword !== undefined) {
      const detail = { personal_tokens_revoked: personalTokens, ...by(input) }
      audit.write({ event: 'password.changed', ...who, detail })
      this.#background.notify('a notice about a changed password could not be sent', () =>
        this.#mails.passwordChanged(former, input.context),
      )
    }
    if (user.email !== former.email) {
      audit.write({ event: 'email.changed', ...who, detail: { former: former.email, ...by(input) } })
      if (emailKey(former.email) !== emailKey(user.email)) {
        this.#background.notify('a notice about a changed email address could not be sent', () =>
          this.#mails.emailChanged(former.email, user),
        )
      }
    }
    if (user.mayAddCameras !== former.mayAddCameras)
      audit.write({ event: 'user.changed', ...who, detail: { adds_cameras: user.mayAddCameras, ...by(input) } })
    if (user.isOwner !== former.isOwner) {
      audit.write({ event: 'user.changed', ...who, detail: { owner: user.isOwner, ...by(input) } })
    }
    const fields = Object.entries({ firstName: 'first_name', lastName: 'last_name', phone: 'phone' } as const)
      .filter(([name]) => change[name as 'firstName'] !== undefined)
      .map(([, field]) => field)
    if (fields.length > 0) {
      audit.write({ event: 'user.changed', ...who, detail: { fields: fields.join(' '), ...by(input) } })
    }
    if (isDisabled !== wasDisabled) {
      audit.write({ event: isDisabled ? 'user.disabled' : 'user.enabled', ...who, detail: by(input) })
    }
  }
}

function noSecondFactor(): AppError {
  return new AppError('not_found', 'the account has no second factor')
}

function readValues({ email, firstName, lastName, phone, isOwner, mayAddCameras, isDisabled }: OwnerChangeInput) {
  return {
    ...(email !== undefined && { email: parseEmail(email) }),
    ...(firstName !== undefined && { firstName: parsePersonName(firstName, 'first_name') }),
    ...(lastName !== undefined && { lastName: parsePersonName(lastName, 'last_name') }),
    ...(phone !== undefined && { phone: phone === '' ? null : phone }),
    ...(isOwner !== undefined && { isOwner }),
    ...(mayAddCameras !== undefined && { mayAddCameras }),
    ...(isDisabled !== undefined && { isDisabled }),
  }
}

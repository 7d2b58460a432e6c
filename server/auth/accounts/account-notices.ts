// Emails about the security of accounts. They are sent in the background. No method throws.

import type { ClearNotice } from '../clear-credentials.ts'
import type { SecondFactorNotice } from '../second-factor/second-factor-options.ts'
import type { AccountMails, IdentityNotice, ReuseNotice } from './account-mails.ts'
import type { AccountParts } from './account-parts.ts'
import type { BackgroundQueue } from './background-queue.ts'

export class AccountNotices {
  readonly #mails: AccountMails
  readonly #background: BackgroundQueue

  constructor({ mails, background }: Pick<AccountParts, 'mails' | 'background'>) {
    this.#mails = mails
    this.#background = background
  }

  /** A refresh token was used twice. */
  reuse(notice: ReuseNotice): void {
    this.#background.notify('a notice about a reused refresh token could not be sent', () => this.#mails.reuse(notice))
  }

  /** The second factor of an account changed. */
  secondFactor(notice: SecondFactorNotice): void {
    this.#background.notify('a notice about a second factor could not be sent', () => this.#mails.secondFactor(notice))
  }

  /** Credentials of an account were sent over an unencrypted connection. */
  inClear(notice: ClearNotice): void {
    this.#background.notify('a notice about unencrypted credentials could not be sent', () =>
      this.#mails.inClear(notice),
    )
  }

  /** An identity provider was linked to an account, or its link was removed. */
  identity(notice: IdentityNotice): void {
    this.#background.notify('a notice about a linked account could not be sent', () => this.#mails.identity(notice))
  }
}

// Mails that tell users about the security of their accounts. They are sent in the background: no method throws.

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

  /** A used refresh token was sent again. */
  reuse(notice: ReuseNotice): void {
    this.#background.notify('a notice of a stolen token was not sent', () => this.#mails.reuse(notice))
  }

  /** The second factor of an account changed. */
  secondFactor(notice: SecondFactorNotice): void {
    this.#background.notify('a notice of a second factor was not sent', () => this.#mails.secondFactor(notice))
  }

  /** Credentials of an account were sent over an unencrypted connection. */
  inClear(notice: ClearNotice): void {
    this.#background.notify('a notice of credentials in clear was not sent', () => this.#mails.inClear(notice))
  }

  /** An identity provider can, or can no longer, sign in to an account. */
  identity(notice: IdentityNotice): void {
    this.#background.notify('a notice of another way to sign in was not sent', () => this.#mails.identity(notice))
  }
}

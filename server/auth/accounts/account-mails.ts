// Sends the emails about accounts.

import type { User } from '../../store/accounts/users.ts'
import type { ClearNotice } from '../clear-credentials.ts'
import type { RequestContext } from '../request-context.ts'
import type { SecondFactorNotice } from '../second-factor/second-factor-options.ts'
import type { AccountsOptions } from './accounts-options.ts'
import {
  alreadyMemberMail,
  confirmEmailMail,
  emailChangedMail,
  guestInvitationMail,
  identityMail,
  inClearMail,
  invitationMail,
  passwordChangedMail,
  resetMail,
  reuseMail,
  secondFactorMail,
  shareMail,
} from './mail-texts.ts'

/** A refresh token was used twice and its grant was ended. */
export type ReuseNotice = { readonly userId: number; readonly appName: string; readonly context: RequestContext }

/** An identity was linked to the account, or its link was removed. */
export type IdentityNotice = {
  readonly user: User
  readonly providerName: string
  readonly isLinked: boolean
  readonly context: RequestContext | undefined
}

type Options = Pick<AccountsOptions, 'mailer' | 'publicUrl' | 'store'>

export class AccountMails {
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  async invitation(to: string, inviter: User | undefined, link: string): Promise<void> {
    await this.#options.mailer.send({ to, ...invitationMail({ link, inviter: inviter?.email }) })
  }

  async alreadyMember(to: string, inviter: User | undefined): Promise<void> {
    const url = `${this.#options.publicUrl}/`
    await this.#options.mailer.send({ to, ...alreadyMemberMail({ url, inviter: inviter?.email }) })
  }

  async guestInvitation(to: string, about: { inviter: string; cameraName: string; link: string }): Promise<void> {
    await this.#options.mailer.send({ to, ...guestInvitationMail(about) })
  }

  async share(to: string, about: { inviter: string; cameraName: string }): Promise<void> {
    await this.#options.mailer.send({ to, ...shareMail({ ...about, url: `${this.#options.publicUrl}/` }) })
  }

  async reset(user: User, link: string): Promise<void> {
    await this.#options.mailer.send({ to: user.email, ...resetMail({ link }) })
  }

  async passwordChanged(user: User, context: RequestContext | undefined): Promise<void> {
    const { mailer, publicUrl, store } = this.#options
    const isLinked = (await store.identities.list(user.id)).length > 0
    const linkedUrl = isLinked ? `${publicUrl}/account/providers/` : undefined
    const text = passwordChangedMail({ url: `${publicUrl}/reset/`, ip: context?.ip, linkedUrl })
    await mailer.send({ to: user.email, ...text })
  }

  async confirmEmail(to: string, user: User, link: string): Promise<void> {
    await this.#options.mailer.send({ to, ...confirmEmailMail({ link, formerEmail: user.email }) })
  }

  async emailChanged(formerEmail: string, { email }: User): Promise<void> {
    await this.#options.mailer.send({ to: formerEmail, ...emailChangedMail({ email }) })
  }

  async reuse({ userId, appName, context }: ReuseNotice): Promise<void> {
    const user = await this.#options.store.users.find(userId)
    if (!user) return
    const url = `${this.#options.publicUrl}/`
    await this.#options.mailer.send({ to: user.email, ...reuseMail({ appName, url, ip: context.ip }) })
  }

  async secondFactor({ user, news, context, recoveryCodesLeft }: SecondFactorNotice): Promise<void> {
    const url = `${this.#options.publicUrl}/account/`
    await this.#options.mailer.send({
      to: user.email,
      ...secondFactorMail({ news, url, ip: context.ip, recoveryCodesLeft }),
    })
  }

  async identity({ user, providerName, isLinked, context }: IdentityNotice): Promise<void> {
    const url = `${this.#options.publicUrl}/account/providers/`
    await this.#options.mailer.send({
      to: user.email,
      ...identityMail({ providerName, isLinked, url, ip: context?.ip }),
    })
  }

  async inClear({ userId, context }: ClearNotice): Promise<void> {
    const user = await this.#options.store.users.find(userId)
    if (!user) return
    const url = `${this.#options.publicUrl}/`
    await this.#options.mailer.send({ to: user.email, ...inClearMail({ url, ip: context.ip }) })
  }
}

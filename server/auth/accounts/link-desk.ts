// One-time links as accounts use them: how long each kind lasts, and how many mails carry them.

import { AppError } from '../../base/error.ts'
import type { Link, LinkKind } from '../../store/links.ts'
import { hashLinkToken } from './account-links.ts'
import type { AccountsOptions } from './accounts-options.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const lifetimesMs = { setup: 7 * dayMs, invitation: 7 * dayMs, reset: hourMs, email: dayMs } as const
const mailLimits = { perAddressAndDay: 3, perSenderAndHour: 20 }

type Mailing = {
  readonly purpose: 'invitation' | 'reset' | 'email'
  readonly email: string
  readonly senderId?: number
}

export class LinkDesk {
  readonly #options: Pick<AccountsOptions, 'store' | 'clock'>

  constructor(options: Pick<AccountsOptions, 'store' | 'clock'>) {
    this.#options = options
  }

  async insert(
    kind: LinkKind,
    hash: Uint8Array,
    of: Partial<Pick<Link, 'userId' | 'email' | 'inviterId' | 'cameraId'>>,
  ): Promise<void> {
    const { store, clock } = this.#options
    await store.links.insert({ kind, hash, expiresAtMs: clock.nowMs() + lifetimesMs[kind], ...of })
  }

  /** One that may still be used; looking does not use it. */
  async find(kind: Exclude<LinkKind, 'setup'>, token: string): Promise<Link | undefined> {
    const hash = hashLinkToken(token)
    return hash && this.#options.store.links.find(kind, hash)
  }

  /** False when there were too many. */
  canMail(mailing: Mailing): Promise<boolean> {
    return this.#options.store.mails.take(mailing, mailLimits)
  }

  /** Throws 'rate_limited' when there were too many. */
  async takeMail(mailing: Mailing): Promise<void> {
    if (await this.canMail(mailing)) return
    throw new AppError('rate_limited', 'too many mails to this address, or too many from you', {
      retryAfterSeconds: 3600,
    })
  }
}

export function badLink(): AppError {
  return new AppError('not_found', 'the link was used, has expired, or never existed')
}

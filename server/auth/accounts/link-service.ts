// One-time links for accounts: how long each kind is valid, and how many may be sent by email.

import { AppError } from '../../base/error.ts'
import { RateLimiter } from '../../base/rate-limiter.ts'
import type { Link, LinkKind, NewLink } from '../../store/accounts/links.ts'
import { addressBlock } from '../guard/address-block.ts'
import { hashLinkToken } from './account-links.ts'
import type { AccountsOptions } from './accounts-options.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const lifetimesMs = { setup: 7 * dayMs, invitation: 7 * dayMs, reset: hourMs, email: dayMs } as const
const mailLimits = {
  invitation: { perAddressAndDay: 3, perSenderAndHour: 20 },
  email: { perAddressAndDay: 3, perSenderAndHour: 20 },
  // Counted separately from invitations, so that strangers cannot use up the invitations of users.
  sign_up: { perAddressAndDay: 3 },
  // Everyone can request these. With a fixed number per day, a stranger could use them up and lock the user out. After
  // the twentieth, one more is sent before the previous link expires.
  reset: { perAddressAndDay: 20, minGapMs: 600_000, alwaysAfterMs: lifetimesMs.reset - 600_000 },
} as const
/** Limits the kinds that everyone can request. */
const perSourceAndHour = 20

type Mailing = {
  readonly purpose: 'invitation' | 'sign_up' | 'reset' | 'email'
  readonly email: string
  readonly senderId?: number
}

export class LinkService {
  readonly #options: Pick<AccountsOptions, 'store' | 'servers' | 'clock'>
  readonly #sources: RateLimiter<string>

  constructor(options: Pick<AccountsOptions, 'store' | 'servers' | 'clock'>) {
    this.#options = options
    this.#sources = new RateLimiter({
      limit: perSourceAndHour,
      windowMs: hourMs,
      servers: options.servers,
      clock: options.clock,
    })
  }

  async insert(
    kind: LinkKind,
    hash: Uint8Array,
    of: Pick<NewLink, 'userId' | 'email' | 'inviterId' | 'cameraId' | 'guestId' | 'credentialsVersion'>,
  ): Promise<void> {
    const { store, clock } = this.#options
    await store.links.insert({ kind, hash, expiresAtMs: clock.nowMs() + lifetimesMs[kind], ...of })
  }

  /** Returns a valid link without using it. */
  async find(kind: Exclude<LinkKind, 'setup'>, token: string): Promise<Link | undefined> {
    const hash = hashLinkToken(token)
    return hash && this.#options.store.links.find(kind, hash)
  }

  /**
   * Counts a request, whether the account exists or not. Throws 'rate_limited' after too many requests from the IP
   * address.
   */
  takeSource(purpose: 'reset' | 'sign_up', ip: string): void {
    this.#sources.take(`${purpose} ${addressBlock(ip)}`)
  }

  /** Returns false if too many emails were sent. */
  canMail(mailing: Mailing): Promise<boolean> {
    return this.#options.store.mails.take(mailing, mailLimits[mailing.purpose])
  }

  /** Throws 'rate_limited' if too many emails were sent. */
  async takeMail(mailing: Mailing): Promise<void> {
    if (await this.canMail(mailing)) return
    throw new AppError('rate_limited', 'too many emails were sent to this address or by you', {
      retryAfterSeconds: 3600,
    })
  }
}

export function badLink(): AppError {
  return new AppError('not_found', 'the link is invalid, expired or already used')
}

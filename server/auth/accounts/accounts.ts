// Accounts: how they are created (set-up, invitation, sign-up), changed and deleted. Callers never learn whether an email
// address has an account: the answer is sent to the address itself.

import { repeat } from '../../base/repeat.ts'
import { AccountAdministration } from './account-administration.ts'
import { AccountMails } from './account-mails.ts'
import { AccountNotices } from './account-notices.ts'
import { AccountSelfService } from './account-self-service.ts'
import type { AccountsOptions } from './accounts-options.ts'
import { BackgroundQueue } from './background-queue.ts'
import { GuestService } from './guest-service.ts'
import { LinkService } from './link-service.ts'
import { SignUpService } from './sign-up-service.ts'

export type Accounts = {
  /** How accounts are created. */
  readonly signUps: SignUpService
  /** What users change themselves. */
  readonly selfService: AccountSelfService
  /** What owners of the server change of any account. */
  readonly administration: AccountAdministration
  /** Guests of cameras. */
  readonly guests: GuestService
  /** Mails about the security of an account. */
  readonly notices: AccountNotices
  /** Resolves when everything that was started, including mails, is done. */
  flush(): Promise<void>
  /** Removes what has expired once an hour; ends when `signal` aborts. */
  run(signal: AbortSignal): Promise<void>
}

const cleaningIntervalMs = 3_600_000

export function createAccounts(options: AccountsOptions): Accounts {
  const { store, clock, deletionMs = () => clock.nowMs(), log } = options
  const mails = new AccountMails(options)
  const background = new BackgroundQueue(log)
  const parts = { options, links: new LinkService(options), mails, background }
  return {
    signUps: new SignUpService(parts),
    selfService: new AccountSelfService(parts),
    administration: new AccountAdministration(parts),
    guests: new GuestService(parts),
    notices: new AccountNotices(parts),
    flush: () => background.flush(),
    async run(signal) {
      const clean = async () => {
        await store.links.removeExpired(deletionMs())
        await store.mails.removeOld()
      }
      await repeat(clean, { clock, signal, intervalMs: cleaningIntervalMs })
      await background.flush()
    },
  }
}

// The account services on a temporary store, for tests. Emails are collected instead of sent.

import { randomBytes } from 'node:crypto'
import { type Accounts, createAccounts } from '../../../server/auth/accounts/accounts.ts'
import type { AccountsOptions } from '../../../server/auth/accounts/accounts-options.ts'
import { Audit, type AuditEvent } from '../../../server/auth/guard/audit.ts'
import { KnownDevices } from '../../../server/auth/guard/known-devices.ts'
import { Login } from '../../../server/auth/guard/login.ts'
import { PasswordQueue } from '../../../server/auth/guard/password-queue.ts'
import { systemClock } from '../../../server/base/clock.ts'
import { silentLogger } from '../../../server/base/log.ts'
import { checkMail, type Mail } from '../../../server/model/mail.ts'
import type { Store } from '../../../server/store/store.ts'

export type TemporaryAccounts = {
  readonly accounts: Accounts
  readonly login: Login
  readonly audit: Audit
  /** Writes to `audit` and `events`. */
  readonly noted: Pick<Audit, 'write'>
  /** In the order in which they were sent. */
  readonly mails: Mail[]
  readonly events: AuditEvent[]
  /** Returns and forgets the emails that were sent so far. */
  takeMails(): Promise<Mail[]>
}

export function createTemporaryAccounts(store: Store, changes: Partial<AccountsOptions> = {}): TemporaryAccounts {
  const { clock = systemClock, log = silentLogger } = changes
  const passwords = new PasswordQueue({ maxWaiting: 1000 })
  const audit = new Audit({ rows: store.audit, clock, log })
  const events: AuditEvent[] = []
  const noted = {
    write: (event: AuditEvent) => {
      events.push(event)
      audit.write(event)
    },
  }
  const devices = new KnownDevices(randomBytes(32), clock)
  const login = new Login({
    users: store.users,
    failures: store.failures,
    passwords,
    devices,
    audit: noted,
    clock,
    log,
  })
  const mails: Mail[] = []
  const accounts = createAccounts({
    store,
    login,
    passwords,
    mailer: {
      send: async (mail) => {
        checkMail(mail)
        mails.push(mail)
      },
    },
    audit: noted,
    clock,
    log,
    randomBytes,
    publicUrl: 'https://nightjar.example:8443',
    signUp: 'invitation',
    ...changes,
  })
  return {
    accounts,
    login,
    audit,
    noted,
    mails,
    events,
    async takeMails() {
      await accounts.flush()
      return mails.splice(0)
    },
  }
}

/** Returns the token of the link in an email. */
export function tokenIn({ text }: Mail): string {
  const [, token] = /\?token=(\w+)/.exec(text) ?? []
  if (token === undefined) throw new Error(`no link in: ${text}`)
  return token
}

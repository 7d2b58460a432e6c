// Guests on the command line. Inviting, changing and removing works as in the server, but the command also reports
// whether the mail was sent.

import { randomBytes } from 'node:crypto'
import { AccountMails } from '../auth/accounts/account-mails.ts'
import { BackgroundQueue } from '../auth/accounts/background-queue.ts'
import { GuestService } from '../auth/accounts/guest-service.ts'
import { LinkService } from '../auth/accounts/link-service.ts'
import type { AuditEvent } from '../auth/guard/audit.ts'
import { systemClock as clock } from '../base/clock.ts'
import { errorChain } from '../base/error.ts'
import { silentLogger as log } from '../base/log.ts'
import { type Config, defaultPublicUrl } from '../config.ts'
import { createMailer } from '../mail-delivery.ts'
import type { Mail } from '../model/mail.ts'
import type { Store } from '../store/store.ts'
import { record } from './record.ts'

/** `none`: there was no mail to send. */
export type MailOutcome = 'sent' | 'none' | { readonly failure: string }

/** The base URL of links in mails. */
export function publicUrlOf({ publicUrl, port }: Pick<Config, 'publicUrl' | 'port'>): string {
  return publicUrl ?? defaultPublicUrl(port)
}

/** Resolves when everything that follows from `work` is done, including the mail. */
export async function withGuestService<T>(
  store: Store,
  config: Config,
  work: (service: GuestService) => Promise<T>,
): Promise<{ readonly result: T; readonly mail: MailOutcome }> {
  const publicUrl = publicUrlOf(config)
  const mailer = createMailer({ config, publicUrl, clock, log })
  let mail: MailOutcome = 'none'
  const send = async (one: Mail) => {
    try {
      await mailer.send(one)
      mail = 'sent'
    } catch (error) {
      mail = { failure: errorChain(error) }
    }
  }
  const noted: AuditEvent[] = []
  const background = new BackgroundQueue(log)
  const service = new GuestService({
    options: { store, randomBytes, publicUrl, signUp: config.signUp, audit: { write: (event) => noted.push(event) } },
    links: new LinkService({ store, clock }),
    mails: new AccountMails({ store, publicUrl, mailer: { send } }),
    background,
  })
  try {
    const result = await work(service)
    await background.flush()
    for (const { userId = null, subject = null, event, detail = {} } of noted) {
      await record(store, { event, userId, subject, detail })
    }
    return { result, mail }
  } finally {
    mailer.close()
  }
}

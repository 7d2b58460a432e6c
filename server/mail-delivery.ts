// Which way mail goes, as configured.

import { join } from 'node:path'
import type { Clock } from './base/clock.ts'
import type { Logger } from './base/log.ts'
import type { Config } from './config.ts'
import { MailQueue } from './mail/mail-queue.ts'
import { MailSpool } from './mail/mail-spool.ts'
import { defaultSender } from './mail/mailer.ts'
import { createOutbox } from './mail/outbox.ts'
import { createSmtpMailer } from './mail/smtp-mailer.ts'

export type MailDeliveryOptions = {
  readonly config: Pick<Config, 'data' | 'smtpUrl' | 'mailFrom'>
  readonly publicUrl: string
  /** 32 bytes; seals mails that wait for the next start. */
  readonly spoolKey: Uint8Array
  readonly clock: Clock
  readonly log: Logger
}

/** Close it when nobody sends any more. */
export function createMailDelivery({ config, publicUrl, spoolKey, clock, log }: MailDeliveryOptions): MailQueue {
  const from = config.mailFrom ?? defaultSender(publicUrl)
  const { smtpUrl } = config
  const dir = join(config.data, 'outbox')
  const spool = new MailSpool({ dir: join(dir, 'waiting'), key: spoolKey, clock, log })
  if (smtpUrl !== undefined) {
    const mailer = createSmtpMailer({ url: smtpUrl, from })
    return new MailQueue({ mailer, spool, clock, log, onClose: () => mailer.close() })
  }
  log.info({ folder: dir }, 'no mail server is configured (smtp-url): mails are written into a folder')
  return new MailQueue({ mailer: createOutbox({ dir, from, clock, log }), spool, clock, log })
}

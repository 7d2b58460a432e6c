// Which way mail goes, as configured.

import { join } from 'node:path'
import type { Clock } from './base/clock.ts'
import type { Logger } from './base/log.ts'
import { NameResolver } from './base/names/name-resolver.ts'
import type { Config } from './config.ts'
import { MailQueue } from './mail/mail-queue.ts'
import { MailSpool } from './mail/mail-spool.ts'
import { defaultSender, type Mailer } from './mail/mailer.ts'
import { createOutbox } from './mail/outbox.ts'
import { createSmtpMailer } from './mail/smtp-mailer.ts'

export type MailerOptions = {
  readonly config: Pick<Config, 'data' | 'smtpUrl' | 'mailFrom' | 'nameServers'>
  readonly publicUrl: string
  readonly clock: Clock
  readonly log: Logger
}

export type MailDeliveryOptions = MailerOptions & {
  /** 32 bytes; seals mails that wait for the next start. */
  readonly spoolKey: Uint8Array
}

/** For a server: nobody waits for the mail server. Close it when nobody sends any more. */
export function createMailDelivery({ spoolKey, ...options }: MailDeliveryOptions): MailQueue {
  const { config, clock, log } = options
  const dir = outboxOf(config)
  if (config.smtpUrl === undefined) {
    log.info({ folder: dir }, 'no mail server is configured (smtp-url): mails are written into a folder')
  }
  const mailer = createMailer(options)
  const spool = new MailSpool({ dir: join(dir, 'waiting'), key: spoolKey, clock, log })
  return new MailQueue({ mailer, spool, clock, log, onClose: () => mailer.close() })
}

/** Who sends hears what became of it. Close it when nobody sends any more. */
export function createMailer({ config, publicUrl, clock, log }: MailerOptions): Mailer & { close(): void } {
  const from = config.mailFrom ?? defaultSender(publicUrl)
  if (config.smtpUrl !== undefined) {
    const names = new NameResolver({ clock, servers: config.nameServers })
    return createSmtpMailer({ url: config.smtpUrl, from, names })
  }
  return { ...createOutbox({ dir: outboxOf(config), from, clock, log }), close: () => {} }
}

/** Where mails are without a mail server. */
export const outboxOf = ({ data }: Pick<Config, 'data'>): string => join(data, 'outbox')

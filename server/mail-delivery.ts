// Chooses how email is delivered, as configured.

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
  /** 32 bytes that encrypt emails which wait for the next start. */
  readonly spoolKey: Uint8Array
}

/** For a server: callers never wait for the SMTP server. Close it after the last sender. */
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

/** Callers learn the result of each delivery. Close it after the last sender. */
export function createMailer({ config, publicUrl, clock, log }: MailerOptions): Mailer & { close(): void } {
  const from = config.mailFrom ?? defaultSender(publicUrl)
  if (config.smtpUrl !== undefined) {
    const names = new NameResolver({ clock, servers: config.nameServers })
    return createSmtpMailer({ url: config.smtpUrl, from, names })
  }
  return { ...createOutbox({ dir: outboxOf(config), from, clock, log }), close: () => {} }
}

/** The folder for emails when no SMTP server is configured. */
export const outboxOf = ({ data }: Pick<Config, 'data'>): string => join(data, 'outbox')

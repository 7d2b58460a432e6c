// Chooses how email is delivered, as configured.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from './base/clock.ts'
import { AppError } from './base/error.ts'
import type { Logger } from './base/log.ts'
import { NameResolver } from './base/names/name-resolver.ts'
import type { Config } from './config.ts'
import { KeptMails } from './mail/kept-mails.ts'
import { MailQueue } from './mail/mail-queue.ts'
import { defaultSender, type Mailer } from './mail/mailer.ts'
import { createOutbox } from './mail/outbox.ts'
import { createSmtpMailer } from './mail/smtp-mailer.ts'
import { checkMail, type Mail } from './model/mail.ts'
import type { WaitingMails } from './store/server/waiting-mails.ts'

export type MailerOptions = {
  readonly config: Pick<Config, 'data' | 'smtpUrl' | 'smtpCa' | 'mailFrom' | 'nameServers'>
  readonly publicUrl: string
  readonly clock: Clock
  readonly log: Logger
}

export type MailDeliveryOptions = MailerOptions & {
  readonly rows: WaitingMails
  /** See `KeptMailsOptions`. */
  readonly sender?: string | undefined
  /** 32 bytes that encrypt emails which wait. */
  readonly waitingKey: Uint8Array
  /** See `KeptMailsOptions`. */
  readonly deletionMs?: () => number
}

/** For a server: callers never wait for the SMTP server. Close it after the last sender. */
export function createMailDelivery({
  rows,
  sender,
  waitingKey,
  deletionMs,
  ...options
}: MailDeliveryOptions): MailQueue {
  const { config, clock, log } = options
  if (config.smtpUrl === undefined) {
    log.info({ folder: outboxOf(config) }, 'no mail server is configured (smtp-url): mails are written into a folder')
  }
  const mailer = createMailer(options)
  const kept = new KeptMails({ ...{ rows, sender, key: waitingKey, clock, log }, ...(deletionMs && { deletionMs }) })
  return new MailQueue({ mailer, kept, clock, log, onClose: () => mailer.close() })
}

/** For a server that sends no emails itself: another one of the database does. */
export function createMailDrop({
  rows,
  waitingKey,
  clock,
  log,
}: Omit<MailDeliveryOptions, 'config' | 'publicUrl'>): Mailer {
  const kept = new KeptMails({ rows, key: waitingKey, clock, log })
  return {
    async send(mail) {
      checkMail(mail)
      await kept.keep(mail, clock.nowMs())
    },
  }
}

/** Callers learn the result of each delivery. Close it after the last sender. */
export function createMailer({ config, publicUrl, clock, log }: MailerOptions): Mailer & { close(): void } {
  const from = config.mailFrom ?? defaultSender(publicUrl)
  if (config.smtpUrl !== undefined) {
    const names = new NameResolver({ clock, servers: config.nameServers })
    const ca = config.smtpCa === undefined ? undefined : readAuthority(config.smtpCa)
    return createSmtpMailer({ url: config.smtpUrl, from, names, ca })
  }
  return { ...createOutbox({ dir: outboxOf(config), from, clock, log }), close: () => {} }
}

function readAuthority(file: string): string {
  try {
    const text = readFileSync(file, 'utf8')
    if (/-----BEGIN CERTIFICATE-----/.test(text)) return text
  } catch (cause) {
    throw new AppError('invalid', `smtp-ca: ${file} cannot be read`, { cause })
  }
  throw new AppError('invalid', `smtp-ca: ${file} contains no certificate (PEM)`)
}

/** Proves that emails arrive. */
export function testMail(to: string, publicUrl: string): Mail {
  const text = `This email was sent to test the mail server of ${publicUrl}. It works.\n`
  return { to, subject: 'Test of your Nightjar server', text }
}

/** The folder for emails when no SMTP server is configured. */
export const outboxOf = ({ data }: Pick<Config, 'data'>): string => join(data, 'outbox')

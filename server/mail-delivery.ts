// Chooses how email is delivered, as configured.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from './base/clock.ts'
import { AppError } from './base/error.ts'
import type { Logger } from './base/log.ts'
import { NameResolver } from './base/names/name-resolver.ts'
import type { Config } from './config.ts'
import { MailQueue } from './mail/mail-queue.ts'
import { MailSpool } from './mail/mail-spool.ts'
import { defaultSender, type Mailer } from './mail/mailer.ts'
import { createOutbox } from './mail/outbox.ts'
import { createSmtpMailer } from './mail/smtp-mailer.ts'
import type { Mail } from './model/mail.ts'

export type MailerOptions = {
  readonly config: Pick<Config, 'data' | 'smtpUrl' | 'smtpCa' | 'mailFrom' | 'nameServers'>
  readonly publicUrl: string
  readonly clock: Clock
  readonly log: Logger
}

export type MailDeliveryOptions = MailerOptions & {
  /** 32 bytes that encrypt emails which wait for the next start. */
  readonly spoolKey: Uint8Array
  /** See `MailSpoolOptions`. */
  readonly deletionMs?: () => number
}

/** For a server: callers never wait for the SMTP server. Close it after the last sender. */
export function createMailDelivery({ spoolKey, deletionMs, ...options }: MailDeliveryOptions): MailQueue {
  const { config, clock, log } = options
  const dir = outboxOf(config)
  if (config.smtpUrl === undefined) {
    log.info({ folder: dir }, 'no mail server is configured (smtp-url): mails are written into a folder')
  }
  const mailer = createMailer(options)
  const spool = new MailSpool({
    dir: join(dir, 'waiting'),
    key: spoolKey,
    clock,
    ...(deletionMs && { deletionMs }),
    log,
  })
  return new MailQueue({ mailer, spool, clock, log, onClose: () => mailer.close() })
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

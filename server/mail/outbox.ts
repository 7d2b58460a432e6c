// Emails without a mail server: each is written to a file (RFC 5322) that the owner can open and forward, or copy a link
// from: the text is as it is, not encoded for old mail servers. The files contain one-time links, so only their owner can
// read them.

import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { replaceFile } from '../base/replace-file.ts'
import { checkMail, type Mail } from '../model/mail.ts'
import { type Mailer, writeMessage } from './mailer.ts'

export type OutboxOptions = {
  /** Created when the first email is written. */
  readonly dir: string
  readonly from: string
  readonly clock: Clock
  readonly log: Logger
}

export function createOutbox({ dir, from, clock, log }: OutboxOptions): Mailer {
  const writer = createTransport({ streamTransport: true, buffer: true, newline: 'unix' })
  return {
    async send(mail: Mail): Promise<void> {
      checkMail(mail)
      const date = new Date(clock.nowMs())
      const { to, subject, text } = mail
      const { message } = await writer.sendMail({ ...writeMessage({ to, subject, text: 'x' }, from), date })
      const [ownHead = ''] = String(message).split('\n\n')
      const head = ownHead.replace(/^(Content-Transfer-Encoding:) 7bit$/m, '$1 8bit')
      const name = `${date.toISOString().replaceAll(/[:.]/g, '-')}-${randomBytes(4).toString('hex')}.eml`
      try {
        await mkdir(dir, { recursive: true, mode: 0o700 })
        await replaceFile(join(dir, name), `${head}\n\n${text}`, 0o600)
      } catch (cause) {
        throw new AppError('unavailable', `an email could not be written to ${dir}`, { cause })
      }
      log.info({ file: join(dir, name) }, 'no mail server is configured: an email was saved in the outbox')
    },
  }
}

// nightjar mail …

import { systemClock as clock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import { silentLogger as log } from '../base/log.ts'
import { createMailer, outboxOf, testMail } from '../mail-delivery.ts'
import { parseEmail } from '../model/email.ts'
import type { Command } from './command.ts'
import { serverOptions } from './help.ts'
import { publicUrlOf } from './with-guest-service.ts'

const mailTest: Command = {
  name: 'mail test',
  summary: 'Send an email to an address, to test the mail server, and print what it answers.',
  positionals: ['ADDRESS'],
  options: Object.fromEntries(
    ['smtp-url', 'smtp-ca', 'mail-from', 'public-url', 'port'].map((name) => [name, serverOptions[name]!]),
  ),
  async run({ config, positionals }) {
    const to = parseEmail(positionals[0]!)
    if (config.smtpUrl === undefined)
      throw new AppError(
        'conflict',
        `no mail server is configured: set smtp-url; emails are put into ${outboxOf(config)}`,
      )
    const publicUrl = publicUrlOf(config)
    const mailer = createMailer({ config, publicUrl, clock, log })
    try {
      await mailer.send(testMail(to, publicUrl))
    } finally {
      mailer.close()
    }
    return { json: { to, sent: true }, text: `The mail server has taken an email to ${to}.` }
  },
}

export const mailCommands: readonly Command[] = [mailTest]

// The option for the mail server, whose URL may contain a password.

import { type Option, textOption } from './option.ts'

export const smtpOption: Option<string | undefined> = {
  ...textOption<string | undefined>({
    placeholder: 'URL',
    description:
      'Mail server for invitations and password resets. `smtps://` uses TLS from the start; `smtp://` uses STARTTLS. If the URL contains a password, set it in the file or the variable.',
    defaultText: 'none; mails are put into the folder `outbox` in the data folder',
    form: 'smtp:// or smtps://, possibly user:password@, a host and possibly a port',
    createDefault: () => undefined,
    read: readSmtpUrl,
  }),
  isSecret: true,
}

function readSmtpUrl(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isServer = url && ['smtp:', 'smtps:'].includes(url.protocol) && url.hostname !== ''
  const isAll = url && ['', '/'].includes(url.pathname) && url.search === '' && url.hash === ''
  if (!isServer || !isAll || (url.username === '') !== (url.password === '')) return undefined
  try {
    decodeURIComponent(url.username + url.password)
    return text
  } catch {
    return undefined
  }
}

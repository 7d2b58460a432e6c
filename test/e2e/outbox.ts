// Emails of a server without an SMTP server: files in its data folder.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually, type ServerUnderTest } from '../server-under-test.ts'

/** URL of the first link in the newest email to `to`, once there are more than `count` of them. */
export function readMailedLink({ dataDir }: ServerUnderTest, to: string, count = 0): Promise<string> {
  return eventually(`a mail to ${to}`, 10_000, async () => {
    const files = await readdir(join(dataDir, 'outbox')).catch(() => [])
    // Names that begin with a dot are still being written.
    const written = files.filter((file) => file.endsWith('.eml') && !file.startsWith('.'))
    const mails = await Promise.all(written.map((file) => readFile(join(dataDir, 'outbox', file), 'utf8')))
    const found = mails.filter((mail) => mail.includes(`To: ${to}`)).sort()
    return found.length > count && readLink(found.at(-1)!)
  })
}

function readLink(mail: string): string {
  const [link] = /https:\/\/\S+\?token=[\w]+/.exec(mail) ?? []
  if (link === undefined) throw new Error(`no link in:\n${mail}`)
  return link
}

// What tests of signing in with an identity provider do in browsers, and look up on the server.

import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PageVisitor, VisitedPage } from '../page-visitor.ts'
import { queryDatabase } from '../query-database.ts'
import type { ServerUnderTest } from '../server-under-test.ts'
import type { LyingProvider, Saying } from './lying-provider.ts'

export const email = 'owner@example.com'
export const password = 'correct horse'
export const back = '/sign-in/with/office/back/'
/** What a provider says of a person whose address it has verified. */
export const verified = (address: string, sub = 'person-1') => ({ sub, email: address, email_verified: true })

/** Presses the button of the page that is shown; the address of the provider that the browser is sent to. */
export async function press(browser: PageVisitor, id = 'office'): Promise<string> {
  const [, path] = new RegExp(`href="(/sign-in/with/${id}/[^"]*)"`).exec(browser.shown!.text) ?? []
  assert.ok(path, `no button of ${id} in:\n${browser.shown!.text}`)
  const sent = await browser.open(path)
  assert.ok(sent.location, sent.text)
  return sent.location
}

/** With what the provider says of whoever sits there; the page that it ends on. */
export async function signIn(browser: PageVisitor, provider: LyingProvider, saying: Saying): Promise<VisitedPage> {
  await browser.open('/sign-in/')
  const answer = provider.authorize(await press(browser), saying)
  return browser.open(`${back}?${answer}`)
}

/** The address of the account; undefined when nobody is signed in. */
export async function signedInAs(browser: PageVisitor): Promise<string | undefined> {
  const { text } = await browser.open('/account/')
  return /<p class="who">.*?<br>([^<]*)</s.exec(text)?.[1]
}

/** What was noted for the owner of the server, newest first. */
export async function audited(server: ServerUnderTest): Promise<string[]> {
  const { events } = await server.command<{ events: { event: string; detail: Record<string, unknown> }[] }>(
    'audit',
    'list',
  )
  return events.map(({ event, detail }) =>
    `${event} ${detail.provider ?? ''} ${detail.via ?? ''} ${detail.reason ?? ''}`.trim(),
  )
}

/** As if the password had been given eleven minutes before it was. */
export async function agePasswords(server: ServerUnderTest): Promise<void> {
  await queryDatabase(server, 'update sessions set password_at_ms = password_at_ms - 660000')
}

/** Of those the server has sent, by their subject. */
export const countMails = async ({ dataDir }: ServerUnderTest, subject: RegExp): Promise<number> => {
  const dir = join(dataDir, 'outbox')
  const files = (await readdir(dir).catch(() => [])).filter((name) => name.endsWith('.eml') && !name.startsWith('.'))
  const mails = await Promise.all(files.map((name) => readFile(join(dir, name), 'utf8')))
  return mails.filter((mail) => subject.test(mail)).length
}

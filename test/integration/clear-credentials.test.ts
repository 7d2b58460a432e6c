// A24: credentials that a client sends over plain HTTP by mistake are refused and recorded, the sender is informed, and
// the user gets an email; nothing is revoked.

import assert from 'node:assert/strict'
import { readdir, readFile, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { isPostgresUrl } from '../../server/store/postgres/postgres-url.ts'
import { eventually, openServerHere, type ServerUnderTest } from '../server-under-test.ts'

type Events = { events: { event: string; user_id: number | null; detail: Record<string, unknown> }[] }

/** Sends these chunks of bytes without TLS and returns the response. */
async function sendPlain({ url }: ServerUnderTest, chunks: readonly string[]): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  const answer = text(socket)
  for (const chunk of chunks) {
    socket.write(chunk)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return answer
}

async function listInClear(server: ServerUnderTest) {
  const { events } = await server.command<Events>('audit', 'list')
  return events.filter(({ event }) => event === 'credentials.in_clear')
}

test('A24, T35: credentials sent over plain HTTP are recorded, and the sender and the user are notified', async () => {
  await using server = await openServerHere()
  const header = `Authorization: PersonalAccessToken ${server.token}`
  const harmless = await sendPlain(server, ['GET /v1/me/ HTTP/1.1\r\nHost: x\r\n\r\n'])
  assert.match(harmless, /^HTTP\/1\.1 403 /)
  assert.doesNotMatch(harmless, /unencrypted/)

  // Once whole, and once split in the middle of the token.
  for (const at of [undefined, 60]) {
    const request = `GET /v1/me/ HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n`
    const answer = await sendPlain(server, at === undefined ? [request] : [request.slice(0, at), request.slice(at)])
    assert.match(answer, /^HTTP\/1\.1 403 /)
    assert.match(answer, /were sent unencrypted. Replace them/)
    assert.ok(!answer.includes(server.token))
  }
  const form = await sendPlain(server, [
    'POST /oauth/token/ HTTP/1.1\r\nHost: x\r\nContent-Length: 40\r\n\r\n',
    'grant_type=password&username=a&password=b',
  ])
  assert.match(form, /unencrypted/)
  // Invalid credentials cause no notice.
  await sendPlain(server, ['GET /v1/me/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer njat_guess\r\n\r\n'])

  const noted = await eventually('three are recorded', 10_000, async () => {
    const found = await listInClear(server)
    return found.length >= 3 && found
  })
  const { events } = await server.command<Events>('audit', 'list')
  assert.ok(!JSON.stringify(events).includes(server.token))
  assert.equal(noted.length, 3)
  assert.deepEqual(noted.map(({ detail }) => Object.keys(detail)[0]).sort(), ['form', 'personal', 'personal'])
  const mails = await eventually('an email', 10_000, async () => {
    const folder = join(server.dataDir, 'outbox')
    const files = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.eml'))
    const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))
    const found = texts.filter((mail) => /without encryption/.test(mail))
    return found.length > 0 && found
  })
  // There is at most one email a day.
  assert.equal(mails.length, 1)
  assert.match(mails[0]!, /^To: .*owner@example\.com/m)
  assert.ok(!mails[0]!.includes(server.token))
  assert.equal((await server.request('/v1/me/')).status, 200)
})

test('the locks of the data folder cannot be held or read by other users', async () => {
  await using server = await openServerHere()
  const names = (await readdir(server.dataDir)).filter((name) => name.endsWith('.lock'))
  assert.ok(names.includes('server.lock'), `${names}`)
  assert.equal(names.includes('nightjar.db.lock'), !isPostgresUrl(server.database), `${names}`)
  for (const name of names) {
    assert.equal((await stat(join(server.dataDir, name))).mode & 0o777, 0o600, name)
  }
})

// Tests the delivery of emails to a real SMTP server on this machine, and to files.

import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { openTemporaryStore } from '../../test/support/store/temporary-store.ts'
import { openOwnIdentity } from '../api/transport/certificate.ts'
import { systemClock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import { type LogFields, type Logger, silentLogger } from '../base/log.ts'
import type { Mail } from '../model/mail.ts'
import { KeptMails } from './kept-mails.ts'
import { MailQueue } from './mail-queue.ts'
import { defaultSender } from './mailer.ts'
import { createOutbox } from './outbox.ts'
import { createSmtpMailer } from './smtp-mailer.ts'

const mail: Mail = { to: 'ada@example.org', subject: 'Grüße', text: 'A line.\n.\nhttps://x/?token=abc\n' }
const from = 'nightjar@example.org'

type Received = { from: string; to: string[]; text: string; user: string | undefined; isSecure: boolean }

async function openSmtp(t: TestContext, options: SMTPServerOptions = {}, host = '127.0.0.1') {
  const dataDir = await mkdtemp(join(tmpdir(), 'nightjar-mail-'))
  t.after(() => rm(dataDir, { recursive: true }))
  const identity = await openOwnIdentity({ dataDir, hosts: ['localhost'], clock: systemClock })
  const received: Received[] = []
  const server = new SMTPServer({
    key: identity.key,
    cert: identity.cert,
    authOptional: true,
    onAuth: ({ username, password }, _session, done) =>
      done(password === 'p@ss/word' ? null : new Error('no'), { user: username }),
    onData: (stream, { envelope, user, secure }, done) => {
      void text(stream).then((text) => {
        const { mailFrom, rcptTo } = envelope
        const sender = mailFrom ? mailFrom.address : ''
        received.push({ from: sender, to: rcptTo.map(({ address }) => address), text, user, isSecure: secure })
        done()
      })
    },
    ...options,
  })
  server.on('error', () => {}) // clients that break off because of the certificate
  const port = await new Promise<number>((resolve) => {
    server.listen(0, host, () => resolve((server.server.address() as { port: number }).port))
  })
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())))
  const send = async (url: string, one: Mail = mail, ca: string | undefined = identity.cert) => {
    const mailer = createSmtpMailer({ url: url.replace('PORT', String(port)), from, ...(ca && { ca }) })
    try {
      await mailer.send(one)
    } finally {
      mailer.close()
    }
  }
  return { received, send }
}

test('emails are delivered with TLS and STARTTLS from the configured sender', async (t) => {
  const starttls = await openSmtp(t)
  await starttls.send('smtp://ada%40x:p%40ss%2Fword@localhost:PORT')
  const tls = await openSmtp(t, { secure: true })
  await tls.send('smtps://ada%40x:p%40ss%2Fword@localhost:PORT')
  for (const { received } of [starttls, tls]) {
    const [one, ...none] = received
    assert.deepEqual([one!.from, one!.to, one!.user, one!.isSecure], [from, ['ada@example.org'], 'ada@x', true])
    assert.equal(none.length, 0)
    assert.match(one!.text, /^From: Nightjar <nightjar@example\.org>\r$/m)
    assert.match(one!.text, /^To: ada@example\.org\r$/m)
    assert.match(one!.text, /^Subject: =\?UTF-8\?/m)
    assert.match(one!.text, /^Auto-Submitted: auto-generated\r$/m)
    assert.match(one!.text, /^Date: .*\r$/m)
    assert.match(one!.text, /\r\n\r\nA line\.\r\n\.\r\nhttps:\/\/x\/\?token=abc\r\n/)
  }
})

test('nothing is sent without encryption or to an untrusted certificate', async (t) => {
  // The mailer does not treat this IP address as the local machine.
  const host = '127.0.0.2'
  const { received, send } = await openSmtp(t, { secure: true }, host)
  const refused = {
    kind: 'unavailable',
    message:
      /^the mail server 127\.0\.0\.2 .*certificate is invalid \(self-signed certificate in certificate chain\); .*set smtp-ca$/,
  }
  await assert.rejects(send('smtps://ada:p%40ss%2Fword@127.0.0.2:PORT', mail, ''), refused)
  const starttls = await openSmtp(t, {}, host)
  await assert.rejects(starttls.send('smtp://ada:p%40ss%2Fword@127.0.0.2:PORT', mail, ''), refused)
  const clear = await openSmtp(t, { hideSTARTTLS: true, disabledCommands: ['STARTTLS'] }, '127.0.0.2')
  await assert.rejects(clear.send('smtp://ada:p%40ss%2Fword@127.0.0.2:PORT'), {
    kind: 'unavailable',
    message: /could not set up an encrypted connection/,
  })
  assert.deepEqual([received, starttls.received, clear.received], [[], [], []])
})

test('rejections are reported with the text of the mail server, without addresses and passwords', async (t) => {
  const { send } = await openSmtp(t, {
    onRcptTo: (_address, _session, done) => done(Object.assign(new Error('no ada@example.org'), { responseCode: 550 })),
  })
  await assert.rejects(send('smtp://ada:wrong@localhost:PORT'), {
    kind: 'unavailable',
    message: 'the mail server localhost rejected the username or password (response 535)',
  })
  await assert.rejects(send('smtp://localhost:PORT'), (error: AppError) => {
    assert.equal(error.kind, 'invalid')
    assert.equal(error.message, 'the mail server localhost rejected the address (response 550 no (address))')
    return true
  })
})

test('a refused sender, or another rule, is a setting to correct; a refused recipient is not', async (t) => {
  const cases: [SMTPServerOptions, 'unavailable' | 'invalid', RegExp][] = [
    [{ onMailFrom: (_address, _session, done) => done(answer(553, 'sender not known')) }, 'unavailable', /mail-from .*553 sender not known/],
    [{ onRcptTo: (_address, _session, done) => done(answer(554, '5.7.1 relay denied')) }, 'unavailable', /smtp-url .*554 5\.7\.1 relay denied/],
    [{ onRcptTo: (_address, _session, done) => done(answer(550, '5.1.1 no such user ada')) }, 'invalid', /550 5\.1\.1 no such user \(name\)/],
    [{ onData: (stream, _session, done) => void text(stream).then(() => done(answer(554, '5.2.252 SendAsDenied; nightjar@example.org not allowed'))) }, 'unavailable', /mail-from .*SendAsDenied; \(address\) not/],
    [{ onData: (stream, _session, done) => void text(stream).then(() => done(answer(554, 'too large'))) }, 'invalid', /554 too large/],
  ] // biome-ignore format: one line each
  for (const [options, kind, message] of cases) {
    const { send } = await openSmtp(t, options)
    await assert.rejects(send('smtp://localhost:PORT'), { kind, message })
  }
})

const answer = (responseCode: number, message: string) => Object.assign(new Error(message), { responseCode })

test('T31: line breaks in addresses and subjects never become headers', async (t) => {
  const { received, send } = await openSmtp(t)
  for (const changes of [
    { to: 'a@x.org\r\nBcc: b@x.org' },
    { to: 'a@x.org, b@x.org' },
    { to: 'a@x.org\nRCPT TO:<b@x.org>' },
    { subject: 'Hello\r\nBcc: b@x.org' },
    { subject: 'Hello\n\nbody' },
  ]) {
    await assert.rejects(send('smtp://localhost:PORT', { ...mail, ...changes }), { kind: 'invalid' })
  }
  assert.deepEqual(received, [])
})

test('without a mail server, each email is saved as a private file and logged', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-outbox-'))
  t.after(() => rm(folder, { recursive: true }))
  const dir = join(folder, 'outbox')
  const logged: LogFields[] = []
  const log: Logger = { ...silentLogger, info: (fields) => void logged.push(fields) }
  const outbox = createOutbox({ dir, from, clock: systemClock, log })
  // Longer than a line of an email may be, and not ASCII.
  const link = `https://x/?token=${'a=b'.repeat(40)}`
  const text = `Grüße.\n.\n${link}\n`
  await outbox.send({ ...mail, text, html: '<p>x</p>' })
  await outbox.send({ ...mail, text, to: 'bob@example.org' })
  await assert.rejects(outbox.send({ ...mail, subject: 'a\r\nb' }), { kind: 'invalid' })
  const names = await readdir(dir)
  assert.equal(names.length, 2)
  assert.ok(names.every((name) => /^\d{4}-\d\d-\d\dT[\d-]+Z-[0-9a-f]{8}\.eml$/.test(name)))
  assert.equal((await stat(dir)).mode & 0o777, 0o700)
  const files = await Promise.all(names.map((name) => readFile(join(dir, name), 'utf8')))
  for (const name of names) assert.equal((await stat(join(dir, name))).mode & 0o777, 0o600)
  assert.ok(files.some((file) => /^To: bob@example\.org$/m.test(file)))
  for (const file of files) {
    assert.match(file, /^Content-Type: text\/plain; charset=utf-8$/m)
    assert.match(file, /^Content-Transfer-Encoding: 8bit$/m)
    assert.ok(file.endsWith(`\n\n${text}`), file)
  }
  assert.deepEqual(logged.map(({ file }) => file).sort(), names.map((name) => join(dir, name)).sort())
})

test('emails are retried for as long as they are of use, and the reason is known', async () => {
  let nowMs = 0
  const logged: string[] = []
  const queue = new MailQueue({
    mailer: { send: () => Promise.reject(new AppError('unavailable', 'set mail-from')) },
    clock: {
      ...systemClock,
      nowMs: () => nowMs,
      sleep: async (ms) => {
        nowMs += ms
        if (nowMs > 1_000_000) assert.deepEqual(queue.stats().problem, { reason: 'set mail-from', sinceMs: 0 })
      },
    },
    log: {
      ...silentLogger,
      warn: (_fields, message) => void logged.push(message),
      error: (_fields, message) => void logged.push(message),
    },
  })
  for (const [usefulMs, expectedMs] of [
    [3_600_000, 3_600_000],
    [undefined, 7 * 86_400_000],
  ] as const) {
    const startMs = nowMs
    await queue.send({ ...mail, ...(usefulMs !== undefined && { usefulMs }) })
    await queue.flush()
    const tookMs = nowMs - startMs
    assert.ok(tookMs >= expectedMs && tookMs < expectedMs + 1_300_000, `${tookMs}`)
    assert.deepEqual(logged.splice(0), [
      'an email could not be sent yet and will be retried',
      'an email could not be sent in time',
    ])
  }
})

test('emails are retried while the mail server is unavailable, but not after a rejection', async () => {
  const attempts: string[] = []
  const errors: string[] = []
  const queue = new MailQueue({
    mailer: {
      send: async ({ to }) => {
        attempts.push(to)
        if (to === 'no@x.org') throw new AppError('invalid', 'refused')
        if (attempts.length < 4) throw new AppError('unavailable', 'away')
      },
    },
    clock: { ...systemClock, sleep: async () => {} },
    log: { ...silentLogger, error: (_fields, message) => void errors.push(message) },
  })
  await queue.send({ ...mail, to: 'yes@x.org' })
  await queue.flush()
  await queue.send({ ...mail, to: 'no@x.org' })
  await queue.close()
  assert.deepEqual(attempts, ['yes@x.org', 'yes@x.org', 'yes@x.org', 'yes@x.org', 'no@x.org'])
  assert.deepEqual(errors, ['an email could not be sent'])
  await assert.rejects(queue.send(mail), { kind: 'unavailable' })
})

test('at most a thousand emails wait, also if all come at once', async (t) => {
  const { create } = await openKept(t)
  for (const kept of [undefined, create()]) {
    const answers = Promise.withResolvers<void>()
    const mailer = { send: () => answers.promise }
    const queue = new MailQueue({ mailer, clock: systemClock, log: silentLogger, ...(kept && { kept }) })
    const sent = await Promise.allSettled(Array.from({ length: 1003 }, () => queue.send(mail)))
    assert.equal(sent.filter(({ status }) => status === 'rejected').length, 3)
    await assert.rejects(queue.send(mail), { kind: 'unavailable', message: 'too many emails are waiting' })
    answers.resolve()
    await queue.flush()
    await queue.send(mail)
    await queue.close()
  }
})

async function openKept(t: TestContext, nowMs = () => Date.now()) {
  const { store } = await openTemporaryStore(t)
  const rows = store.waitingMails
  const key = new Uint8Array(32).fill(7)
  const warnings: string[] = []
  const log = { ...silentLogger, warn: (_fields: LogFields, message: string) => void warnings.push(message) }
  const create = () => new KeptMails({ rows, key, clock: { nowMs }, log })
  return { rows, create, warnings }
}

test('emails in the queue are kept until they are sent, also if the server is killed', async (t) => {
  const { rows, create } = await openKept(t)
  let isUp = false
  const sent: Mail[] = []
  const mailer = {
    send: async (one: Mail) => {
      if (!isUp) throw new AppError('unavailable', 'away')
      sent.push(one)
    },
  }
  const open = () => new MailQueue({ mailer, kept: create(), clock: systemClock, log: silentLogger })
  const mails = ['a', 'b', 'c'].map((name) => ({ ...mail, to: `${name}@x.org` }))
  const first = open()
  for (const one of mails) await first.send(one)
  // Not closed: it was killed.
  const kept = await rows.list()
  assert.equal(kept.length, 3)
  for (const { sealed } of kept)
    assert.doesNotMatch(Buffer.from(sealed).toString('latin1'), /token=abc|example|x\.org/, 'sealed')
  // The mail server is still unavailable at the next start and stop. Each email is kept once.
  const second = open()
  await second.send({ ...mail, to: 'd@x.org' })
  await second.resume()
  assert.equal(second.stats().waiting, 4)
  await second.close()
  assert.equal((await rows.list()).length, 4)

  const third = open()
  await third.resume()
  assert.equal(third.stats().waiting, 4)
  isUp = true
  await third.close()
  assert.deepEqual(sent.map(({ to }) => to).sort(), ['a@x.org', 'b@x.org', 'c@x.org', 'd@x.org'])
  assert.ok(sent.every(({ text }) => text === mail.text))
  assert.deepEqual(await rows.list(), [])
  const fourth = open()
  await fourth.resume()
  assert.equal(fourth.stats().waiting, 0)
  await fourth.close()
  await first.close()
})

test('an unresponsive mail server does not prevent a stop', async (t) => {
  const { rows, create } = await openKept(t)
  const queue = new MailQueue({
    mailer: { send: () => new Promise<void>(() => {}) },
    kept: create(),
    clock: { ...systemClock, sleep: async () => {} },
    log: silentLogger,
  })
  await queue.send(mail)
  await queue.close()
  assert.equal((await rows.list()).length, 1)
})

test('an email that cannot be kept is sent all the same', async (t) => {
  const { create } = await openKept(t)
  const sent: Mail[] = []
  const kept = create()
  kept.keep = () => Promise.reject(new AppError('unavailable', 'the database is away'))
  const mailer = { send: async (one: Mail) => void sent.push(one) }
  const queue = new MailQueue({ mailer, kept, clock: systemClock, log: silentLogger })
  await queue.send(mail)
  await queue.close()
  assert.deepEqual(sent, [mail])
})

test('waiting emails expire after a week, and what cannot be read stays', async (t) => {
  let nowMs = Date.now()
  const { rows, create, warnings } = await openKept(t, () => nowMs)
  const kept = create()
  assert.deepEqual(await kept.list(), [])
  await kept.keep(mail, nowMs)
  await kept.keep({ ...mail, html: '<p>x</p>' }, nowMs)
  await rows.insert(new Uint8Array(40), nowMs)
  const listed = await kept.list()
  assert.deepEqual(
    listed.map((each) => each.mail.html),
    [undefined, '<p>x</p>'],
  )
  assert.deepEqual(warnings, ['a waiting email cannot be read'])
  nowMs += 7 * 86_400_000
  assert.deepEqual(await kept.list(), [])
  assert.equal((await rows.list()).length, 1)
})

test('without a database, unsent emails are logged at a stop', async () => {
  const errors: string[] = []
  const queue = new MailQueue({
    mailer: { send: () => Promise.reject(new AppError('unavailable', 'away')) },
    clock: systemClock,
    log: { ...silentLogger, error: (_fields, message) => void errors.push(message) },
  })
  await queue.send(mail)
  await new Promise((resolve) => setImmediate(resolve))
  await queue.close()
  assert.deepEqual(errors, ['emails could not be sent'])
})

test('the default sender is at the host of the public URL', () => {
  assert.equal(defaultSender('https://cameras.example.org:8443'), 'nightjar@cameras.example.org')
  assert.equal(defaultSender('https://192.168.1.2'), 'nightjar@localhost')
  assert.equal(defaultSender('https://[::1]:8443'), 'nightjar@localhost')
})

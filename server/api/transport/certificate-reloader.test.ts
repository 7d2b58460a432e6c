// Certificates that are replaced while the server runs, over real TLS.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { copyFile, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import http2 from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import tls from 'node:tls'
import { openTemporaryApi } from '../../../test/support/api/temporary-api.ts'
import { until } from '../../../test/support/until.ts'
import { systemClock } from '../../base/clock.ts'
import { type LogFields, type Logger, silentLogger } from '../../base/log.ts'
import { loadIdentity, type OwnIdentity, openOwnIdentity } from './certificate.ts'
import { CertificateReloader } from './certificate-reloader.ts'

const dayMs = 86_400_000

/** A certificate and its key in a folder of their own, as made at a time. */
async function makePair(t: TestContext, nowMs = Date.now()): Promise<{ cert: string; key: string; made: OwnIdentity }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'nightjar-tls-'))
  t.after(() => rm(dataDir, { recursive: true }))
  const made = await openOwnIdentity({ dataDir, hosts: [], clock: { ...systemClock, nowMs: () => nowMs } })
  return { cert: join(dataDir, 'tls/cert.pem'), key: join(dataDir, 'tls/key.pem'), made }
}

/** A server that shows `identity`, kept by a keeper that looks when told to. */
async function serve(t: TestContext, identity: OwnIdentity, read: () => Promise<OwnIdentity>) {
  const { api } = await openTemporaryApi(t, { identity })
  const port = await api.listen({ host: '127.0.0.1', port: 0 })
  const lines: [string, LogFields][] = []
  const note = (fields: LogFields, message: string) => void lines.push([message, fields])
  const log: Logger = { ...silentLogger, info: note, warn: note, error: note }
  const clock = { ...systemClock, ms: Date.now(), nowMs: () => clock.ms }
  const show = (fresh: OwnIdentity) => api.replaceIdentity(fresh)
  const keeper = new CertificateReloader({ identity, read, show, intervalMs: 5, clock, log })
  const connect = async (options: tls.ConnectionOptions = {}) => {
    const socket = tls.connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options })
    await Promise.race([once(socket, 'secureConnect'), once(socket, 'error').then(([error]) => Promise.reject(error))])
    return socket
  }
  const shown = async (options: tls.ConnectionOptions = {}) => {
    const socket = await connect(options)
    const { fingerprint256 } = socket.getPeerCertificate()
    socket.destroy()
    return fingerprint256
  }
  const messages = () => lines.splice(0)
  return { keeper, clock, connect, shown, messages, port }
}

test('T36: certificate files that are replaced are shown without a restart', async (t) => {
  const [first, second] = [await makePair(t), await makePair(t)]
  const read = () => loadIdentity(first.cert, first.key)
  const { keeper, connect, shown, messages, port } = await serve(t, await read(), read)
  const before = first.made.fingerprint
  assert.equal(await shown(), before)
  const session = http2.connect(`https://127.0.0.1:${port}`, { ca: first.made.cert })
  await once(session, 'connect')
  await keeper.look()
  assert.deepEqual(messages(), [])

  await copyFile(second.key, first.key)
  await copyFile(second.cert, first.cert)
  const stop = new AbortController()
  const running = keeper.run(stop.signal)
  await until(async () => (await shown()) !== before)
  assert.equal(await shown(), second.made.fingerprint)
  stop.abort()
  await running
  assert.deepEqual(messages(), [
    ['the certificate was replaced', { file: first.cert, fingerprint: second.made.fingerprint }],
  ])

  // Who is connected stays so; who comes finds the same rules as before.
  const stream = session.request({ ':path': '/healthz' })
  const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders]
  assert.equal(headers[':status'], 200)
  session.destroy()
  const trusting = await connect({ ca: second.made.cert, rejectUnauthorized: true, ALPNProtocols: ['h2', 'http/1.1'] })
  assert.deepEqual([trusting.alpnProtocol, trusting.getProtocol()], ['h2', 'TLSv1.3'])
  trusting.destroy()
  const older = await connect({ maxVersion: 'TLSv1.2' })
  assert.match(older.getCipher().name, /GCM|CHACHA20/)
  older.destroy()
  await assert.rejects(shown({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' }))
  await assert.rejects(shown({ maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA' }))
})

test('T36: links that are moved to other files count too', async (t) => {
  const [first, second] = [await makePair(t), await makePair(t)]
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-tls-'))
  t.after(() => rm(folder, { recursive: true }))
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const point = async (to: typeof first) => {
    for (const [from, link] of [
      [to.cert, cert],
      [to.key, key],
    ] as const) {
      await symlink(from, `${link}.new`)
      await rename(`${link}.new`, link)
    }
  }
  await point(first)
  const read = () => loadIdentity(cert, key)
  const { keeper, shown } = await serve(t, await read(), read)
  await point(second)
  await keeper.look()
  assert.equal(await shown(), second.made.fingerprint)
})

test('T36: a pair that cannot be used keeps the one before, and the log says why, once', async (t) => {
  const [first, second, old, future] = [
    await makePair(t),
    await makePair(t),
    await makePair(t, Date.now() - 400 * dayMs),
    await makePair(t, Date.now() + 30 * dayMs),
  ]
  const { cert, key, made } = first
  const read = () => loadIdentity(cert, key)
  const { keeper, clock, shown, messages } = await serve(t, await read(), read)
  const cases: [RegExp, () => Promise<unknown>][] = [
    [/does not match the certificate/, () => copyFile(second.cert, cert)],
    [/no usable PEM/, () => writeFile(cert, second.made.cert.slice(0, 200))],
    [/no usable PEM/, () => writeFile(cert, '')],
    [/cannot read/, () => rm(key)],
    [/expired on \d{4}-/, () => Promise.all([copyFile(old.cert, cert), copyFile(old.key, key)])],
    [/is not valid before \d{4}-/, () => Promise.all([copyFile(future.cert, cert), copyFile(future.key, key)])],
  ]
  for (const [reason, spoil] of cases) {
    await spoil()
    await keeper.look()
    await keeper.look()
    const [[message, fields], ...more] = messages() as [[string, { reason: string }]]
    assert.equal(message, 'the new certificate cannot be used; the previous one stays in use')
    assert.match(fields.reason, reason)
    assert.doesNotMatch(fields.reason, /BEGIN|PRIVATE/)
    assert.deepEqual(more, [])
    assert.equal(await shown(), made.fingerprint, String(reason))
  }
  // What was too early is right one day.
  clock.ms += 30 * dayMs
  await keeper.look()
  assert.equal(await shown(), future.made.fingerprint)
  await copyFile(second.cert, cert)
  await copyFile(second.key, key)
  await keeper.look()
  assert.equal(await shown(), second.made.fingerprint)
})

test('T36: a certificate of our own is renewed before it ends, while the server runs', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'nightjar-tls-'))
  t.after(() => rm(dataDir, { recursive: true }))
  const holder: { nowMs: () => number } = { nowMs: () => Date.now() }
  const read = () => openOwnIdentity({ dataDir, hosts: ['cam.example'], clock: { ...systemClock, ...holder } })
  const first = await read()
  const { keeper, clock, shown, messages } = await serve(t, first, read)
  holder.nowMs = clock.nowMs
  clock.ms += 365 * dayMs
  await keeper.look()
  assert.equal(await shown(), first.fingerprint)
  assert.deepEqual(messages(), [])
  clock.ms += 2 * dayMs
  await keeper.look()
  const fresh = await shown()
  assert.notEqual(fresh, first.fingerprint)
  assert.equal(fresh, keeper.identity.fingerprint)
  assert.equal(fresh, (await read()).fingerprint, 'it is the one that is kept')
  assert.deepEqual(messages().map(([message]) => message), ['the certificate was replaced']) // biome-ignore format: one line
})

test('a certificate that ends within a week, or has ended, is warned of once a day', async (t) => {
  const { cert, key } = await makePair(t)
  const read = () => loadIdentity(cert, key)
  const { keeper, clock, messages } = await serve(t, await read(), read)
  clock.ms += 388 * dayMs
  await keeper.look()
  assert.deepEqual(messages(), [])
  const warned: number[] = []
  for (let hour = 0; hour < 24 * 10; hour += 6) {
    await keeper.look()
    for (const [message] of messages()) {
      assert.match(message, /expires soon or has expired/)
      warned.push(hour)
    }
    clock.ms += 6 * 3_600_000
  }
  assert.ok(warned.length >= 8 && warned.length <= 10, String(warned))
})

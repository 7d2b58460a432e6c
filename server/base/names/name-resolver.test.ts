import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type DnsAnswer, type DnsQuestion, openDnsServer } from '../../../test/dns-server.ts'
import { NameResolver, type NameResolverOptions } from './name-resolver.ts'

type Zone = Readonly<Record<string, readonly string[] | 'silent' | 'failed'>>

/** Answers from a zone with the addresses of the requested type. */
function answerFrom(zone: Zone) {
  return ({ name, type }: DnsQuestion): DnsAnswer => {
    const found = Object.hasOwn(zone, name) ? zone[name]! : 'unknown'
    if (typeof found === 'string') return found
    return found.filter((address) => address.includes(':') === (type === 'AAAA'))
  }
}

async function writeFiles(t: TestContext, files: { hosts?: string; resolver?: string; switch?: string }) {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-names-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const paths = { hosts: join(folder, 'hosts'), resolver: join(folder, 'resolv'), switch: join(folder, 'switch') }
  for (const name of ['hosts', 'resolver', 'switch'] as const) await writeFile(paths[name], files[name] ?? '')
  return paths
}

async function open(
  t: TestContext,
  zone: Zone,
  { files = {}, ...options }: Omit<NameResolverOptions, 'files'> & { files?: Parameters<typeof writeFiles>[1] } = {},
) {
  const server = await openDnsServer(answerFrom(zone))
  t.after(() => server[Symbol.asyncDispose]())
  const names = new NameResolver({ servers: [server.address], files: await writeFiles(t, files), ...options })
  return { server, names }
}

const addressesOf = async (names: NameResolver, host: string) =>
  (await names.lookup(host)).map(({ address }) => address).sort()

test('a name resolves to the IPv4 and IPv6 addresses of its DNS server', async (t) => {
  const zone = { 'cam.example': ['192.0.2.7', '192.0.2.8', '2001:db8::7'], 'six.example': ['2001:db8::6'] }
  const { names } = await open(t, zone)
  assert.deepEqual(await addressesOf(names, 'cam.example'), ['192.0.2.7', '192.0.2.8', '2001:db8::7'])
  assert.deepEqual(await names.lookup('six.example'), [{ address: '2001:db8::6', family: 6 }])
  assert.deepEqual(await addressesOf(names, 'CAM.example.'), ['192.0.2.7', '192.0.2.8', '2001:db8::7'])
})

test('IP addresses in any notation and localhost are resolved without DNS', async (t) => {
  const { names, server } = await open(t, { localhost: ['192.0.2.1'], 'a.localhost': ['192.0.2.1'] })
  for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '127.1', '0177.0.0.1'])
    assert.deepEqual(await names.lookup(host), [{ address: '127.0.0.1', family: 4 }], host)
  for (const host of ['::1', '[::1]', '0:0:0:0:0:0:0:1']) assert.equal((await names.lookup(host))[0]?.family, 6, host)
  assert.equal((await names.lookup('fe80::1%eth0'))[0]?.address, 'fe80::1')
  for (const host of ['localhost', 'LOCALHOST.', 'a.localhost'])
    assert.deepEqual(await addressesOf(names, host), ['127.0.0.1', '::1'], host)
  assert.equal(server.questions.length, 0)
})

test('the hosts file takes precedence over DNS and is read again when it changes', async (t) => {
  const files = await writeFiles(t, { hosts: '# ours\n10.1.2.3\tdoor Door.lan # front\nfd00::3 door\nnonsense yard\n' })
  await using server = await openDnsServer(answerFrom({ 'door.lan': ['192.0.2.9'], yard: ['192.0.2.9'] }))
  const names = new NameResolver({ servers: [server.address], files })
  assert.deepEqual(await addressesOf(names, 'DOOR'), ['10.1.2.3', 'fd00::3'])
  assert.deepEqual(await addressesOf(names, 'door.lan.'), ['10.1.2.3'])
  assert.equal(server.questions.length, 0)
  assert.deepEqual(await addressesOf(names, 'yard'), ['192.0.2.9'])
  await writeFile(files.hosts, '10.9.9.9 door\n')
  while ((await addressesOf(names, 'door'))[0] !== '10.9.9.9') await new Promise((resolve) => setTimeout(resolve, 100))
})

test('search domains are tried in the order given by ndots', async (t) => {
  const zone = {
    'door.lan.example': ['192.0.2.1'],
    'a.b.two.example': ['192.0.2.2'],
    'a.b.c': ['192.0.2.3'],
    full: ['192.0.2.4'],
  }
  const files = { resolver: 'search lan.example two.example.\noptions ndots:2 timeout:1\n' }
  const { names, server } = await open(t, zone, { files })
  const asked = async (host: string) => {
    const before = server.questions.length
    await names.lookup(host).catch(() => {})
    return server.questions.slice(before).flatMap(({ name, type }) => (type === 'A' ? [name] : []))
  }
  assert.deepEqual(await asked('door'), ['door.lan.example'])
  assert.deepEqual(await asked('a.b'), ['a.b.lan.example', 'a.b.two.example'])
  assert.deepEqual(await asked('a.b.c'), ['a.b.c'])
  assert.deepEqual(await asked('full.'), ['full'])
  assert.deepEqual(await asked('none'), ['none.lan.example', 'none.two.example', 'none'])
  assert.deepEqual(await asked('x.y.z'), ['x.y.z', 'x.y.z.lan.example', 'x.y.z.two.example'])
})

test('unknown names, server errors and timeouts are distinguished', async (t) => {
  const limits = { totalMs: 700 }
  const { names } = await open(t, { 'broken.example': 'failed', 'silent.example': 'silent' }, { limits })
  const refused = (host: string, message: RegExp) =>
    assert.rejects(names.lookup(host), { kind: 'unavailable', message })
  await refused('none.example', /^the host name "none.example" is not known$/)
  await refused('broken.example', /^the DNS servers failed to resolve "broken.example"$/)
  await refused('silent.example', /^no DNS server resolved "silent.example" in time$/)
  for (const host of ['', 'a b', 'x'.repeat(300), `${'y'.repeat(64)}.example`]) await refused(host, /is not known$/)
})

test('DNS servers that never answer for IPv6 delay a name but do not hide it', async (t) => {
  await using server = await openDnsServer(({ type }) => (type === 'A' ? ['192.0.2.5'] : 'silent'))
  const names = new NameResolver({ servers: [server.address], files: await writeFiles(t, {}) })
  assert.deepEqual(await names.lookup('cam.example'), [{ address: '192.0.2.5', family: 4 }])
})

test('unanswered lookups of one account do not delay those of another', async (t) => {
  const limits = { ofAccount: 2, inAll: 4, waitingOfAccount: 20, totalMs: 60_000 }
  const { names } = await open(t, { 'slow.example': 'silent', 'cam.example': ['192.0.2.7'] }, { limits })
  const stop = new AbortController()
  const slow = Array.from({ length: 30 }, () =>
    names.lookup('slow.example', { account: 1, signal: stop.signal }).catch((error: unknown) => error),
  )
  const found = await Promise.all(
    [2, 3, 2, 3].map((account) => names.lookup('cam.example', { account, signal: AbortSignal.timeout(30_000) })),
  )
  assert.deepEqual(new Set(found.map(([first]) => first?.address)), new Set(['192.0.2.7']))
  assert.deepEqual({ running: 2, waiting: 20, refused: 8 }, names.stats())
  stop.abort(new Error('gone'))
  const messages = (await Promise.all(slow)).map((error) => (error as Error).message)
  assert.equal(messages.filter((message) => message === 'gone').length, 22)
  assert.equal(messages.filter((message) => message === 'too many names are being looked up').length, 8)
  assert.deepEqual(names.stats(), { running: 0, waiting: 0, refused: 8 })
})

test('thousands of aborted lookups leave nothing behind', async (t) => {
  const { names } = await open(t, { 'slow.example': 'silent', 'cam.example': ['192.0.2.7'] })
  for (let i = 0; i < 100; i++) {
    const stop = new AbortController()
    const lookups = Array.from({ length: 20 }, (_, account) =>
      names.lookup('slow.example', { account, signal: stop.signal }),
    )
    if (i % 2) await new Promise((resolve) => setImmediate(resolve))
    stop.abort(new Error('changed'))
    for (const each of await Promise.allSettled(lookups)) assert.equal(each.status, 'rejected')
  }
  assert.deepEqual(names.stats(), { running: 0, waiting: 0, refused: 0 })
  assert.deepEqual(await addressesOf(names, 'cam.example'), ['192.0.2.7'])
})

test('the system resolver is used only for .local, and only if it knows more than DNS', async (t) => {
  const zone = { 'nightjar-test.local': ['192.0.2.1'], 'cam.example': ['192.0.2.2'] }
  const plain = await open(t, zone, { files: { switch: 'hosts: files dns\n' } })
  assert.deepEqual(await addressesOf(plain.names, 'nightjar-test.local'), ['192.0.2.1'])
  const other = await open(t, zone, { files: { switch: 'hosts: files mdns4_minimal [NOTFOUND=return] dns\n' } })
  assert.deepEqual(await addressesOf(other.names, 'cam.example'), ['192.0.2.2'])
  await other.names.lookup('nightjar-test.local', { signal: AbortSignal.timeout(2000) }).catch(() => {})
  assert.deepEqual(new Set(other.server.questions.map(({ name }) => name)), new Set(['cam.example']))
})

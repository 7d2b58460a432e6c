import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../base/clock.ts'
import { loadIdentity, openOwnIdentity } from './certificate.ts'
import { makeServerCertificate, maySignFor } from './make-certificate.ts'

const dayMs = 86_400_000

async function openFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-tls-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

const at = (nowMs: number) => ({ ...systemClock, nowMs: () => nowMs })

test('a certificate is created once and kept, and its key is readable only by the owner', async (t) => {
  const dataDir = await openFolder(t)
  const nowMs = Date.now()
  const open = (hosts: string[], clock = at(nowMs)) => openOwnIdentity({ dataDir, hosts, clock })
  const first = await open(['cam.example'])
  assert.equal((await stat(join(dataDir, 'tls/key.pem'))).mode & 0o777, 0o600)
  assert.equal(first.certFile, join(dataDir, 'tls/cert.pem'))
  assert.match(first.fingerprint, /^([0-9A-F]{2}:){31}[0-9A-F]{2}$/)
  assert.equal((await open(['cam.example'])).cert, first.cert)
  assert.equal((await open([])).cert, first.cert, 'fewer names are no reason for a new one')
})

test('renewed before it expires, for a new name, and when damaged; the authority that devices trust stays', async (t) => {
  const dataDir = await openFolder(t)
  const nowMs = Date.now()
  const open = (hosts: string[], clock = at(nowMs)) => openOwnIdentity({ dataDir, hosts, clock })
  const first = await open([])
  const late = await open([], at(nowMs + 370 * dayMs))
  assert.notEqual(late.cert, first.cert)
  const renamed = await open(['192.168.7.7', 'cam.local'], at(nowMs + 370 * dayMs))
  assert.notEqual(renamed.cert, late.cert)
  await writeFile(join(dataDir, 'tls/key.pem'), 'broken')
  const repaired = await open(['192.168.7.7'])
  assert.notEqual(repaired.cert, renamed.cert)
  assert.equal(await readFile(join(dataDir, 'tls/cert.pem'), 'utf8'), repaired.cert)
  for (const each of [late, renamed, repaired]) assert.deepEqual(each.authority, first.authority)
  assert.equal((await stat(join(dataDir, 'tls/ca-key.pem'))).mode & 0o777, 0o600)
  // It may not sign for this one.
  const elsewhere = await open(['cam.example.org'])
  assert.notDeepEqual(elsewhere.authority, first.authority)
  assert.deepEqual((await open(['192.168.7.7'])).authority, elsewhere.authority)
})

test('a machine that starts in 1970 keeps the certificate that is trusted, and makes one that is valid later', async (t) => {
  const dataDir = await openFolder(t)
  const nowMs = Date.now()
  const open = (clock: ReturnType<typeof at>) => openOwnIdentity({ dataDir, hosts: ['nas.local'], clock })
  const first = await open(at(nowMs))
  assert.equal((await open(at(20_000))).cert, first.cert)
  assert.equal((await open(at(nowMs - 2 * 365 * dayMs))).cert, first.cert)
  const other = await openFolder(t)
  const early = await openOwnIdentity({ dataDir: other, hosts: [], clock: at(20_000) })
  const right = await openOwnIdentity({ dataDir: other, hosts: [], clock: at(nowMs) })
  assert.notEqual(right.cert, early.cert)
  assert.deepEqual(right.authority, early.authority)
  assert.ok(new X509Certificate(right.authority!.cert).validToDate.getTime() > nowMs + 10 * 365 * dayMs)
})

test('what the authority signs is valid for this server, local names and private networks alone', async (t) => {
  const dataDir = await openFolder(t)
  const nowMs = Date.now()
  const hosts = ['cam.example.org', '203.0.113.7', '2001:db8::7', 'nas', 'printer.local', '10.1.2.3', 'fd00::1']
  const { authority } = await openOwnIdentity({ dataDir, hosts, clock: at(nowMs) })
  const key = await readFile(join(dataDir, 'tls/ca-key.pem'), 'utf8')
  const ca = join(dataDir, 'tls/ca.pem')
  const verify = async (host: string): Promise<boolean> => {
    const { cert } = await makeServerCertificate({ cert: authority!.cert, key }, [host], nowMs)
    const file = join(dataDir, 'leaf.pem')
    await writeFile(file, cert)
    const kind = isIP(host) ? '-verify_ip' : '-verify_hostname'
    return spawnSync('openssl', ['verify', '-x509_strict', '-CAfile', ca, kind, host, file]).status === 0
  }
  const certificate = new X509Certificate(authority!.cert)
  assert.ok(certificate.ca)
  const inside = [...hosts, 'localhost', 'door.cam.example.org', 'my.fritz.box', '192.168.255.1', '127.0.0.1', '::1']
  const outside = [
    'example.org',
    'bank.example',
    'local.example',
    'xlocal',
    '203.0.113.8',
    '8.8.8.8',
    '2001:db8::8',
    'fbff::1',
  ]
  for (const host of inside) assert.ok(await verify(host), host)
  for (const host of outside) assert.ok(!(await verify(host)), host)
  for (const host of hosts) assert.ok(maySignFor(certificate, host), host)
  for (const host of outside) assert.ok(!maySignFor(certificate, host), host)
})

test('a certificate without its authority, or of another one, is made anew', async (t) => {
  const dataDir = await openFolder(t)
  const open = () => openOwnIdentity({ dataDir, hosts: [], clock: systemClock })
  const first = await open()
  await rm(join(dataDir, 'tls/ca.pem'))
  const second = await open()
  assert.notDeepEqual(second.authority, first.authority)
  assert.ok(new X509Certificate(second.cert).verify(new X509Certificate(second.authority!.cert).publicKey))
})

test("the operator's certificate files are used unchanged if they match", async (t) => {
  const [one, two] = [await openFolder(t), await openFolder(t)]
  const own = await openOwnIdentity({ dataDir: one, hosts: [], clock: systemClock })
  await openOwnIdentity({ dataDir: two, hosts: [], clock: systemClock })
  const loaded = await loadIdentity(join(one, 'tls/cert.pem'), join(one, 'tls/key.pem'))
  assert.equal(loaded.fingerprint, own.fingerprint)
  await assert.rejects(loadIdentity(join(one, 'tls/cert.pem'), join(two, 'tls/key.pem')), /does not match/)
  await assert.rejects(loadIdentity(join(one, 'nothing.pem'), join(two, 'tls/key.pem')), /cannot read/)
  await assert.rejects(loadIdentity(join(one, 'tls/key.pem'), join(one, 'tls/key.pem')), /no usable PEM/)
})

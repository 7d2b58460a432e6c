import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../base/clock.ts'
import { loadIdentity, openOwnIdentity } from './certificate.ts'

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

test('renewed before it expires, for a new name, and when damaged', async (t) => {
  const dataDir = await openFolder(t)
  const nowMs = Date.now()
  const open = (hosts: string[], clock = at(nowMs)) => openOwnIdentity({ dataDir, hosts, clock })
  const first = await open([])
  const late = await open([], at(nowMs + 370 * 86_400_000))
  assert.notEqual(late.cert, first.cert)
  const renamed = await open(['192.168.7.7', 'cam.example'], at(nowMs + 370 * 86_400_000))
  assert.notEqual(renamed.cert, late.cert)
  await writeFile(join(dataDir, 'tls/key.pem'), 'broken')
  const repaired = await open(['192.168.7.7'])
  assert.notEqual(repaired.cert, renamed.cert)
  assert.equal(await readFile(join(dataDir, 'tls/cert.pem'), 'utf8'), repaired.cert)
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

// The operator replaces the certificate of a running server; devices trust the authority of a server.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import tls from 'node:tls'
import { openOwnIdentity } from '../../server/api/transport/certificate.ts'
import { systemClock } from '../../server/base/clock.ts'
import { eventually, openServer } from '../server-under-test.ts'

test('T36: the server presents a new certificate within seconds without interruption', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-tls-'))
  t.after(() => rm(folder, { recursive: true }))
  const make = async (name: string) => {
    const dataDir = join(folder, name)
    const { fingerprint } = await openOwnIdentity({ dataDir, hosts: [], clock: systemClock })
    return { cert: join(dataDir, 'tls/cert.pem'), key: join(dataDir, 'tls/key.pem'), fingerprint }
  }
  const [first, second] = [await make('first'), await make('second')]
  await using server = await openServer('--tls-cert', first.cert, '--tls-key', first.key)
  const shown = async () => {
    const { port } = new URL(server.url)
    const socket = tls.connect({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    const { fingerprint256 } = socket.getPeerCertificate()
    socket.destroy()
    return fingerprint256
  }
  assert.equal(await shown(), first.fingerprint)
  const { pid } = server
  await copyFile(second.cert, first.cert)
  await copyFile(second.key, first.key)
  await eventually('the new certificate', 40_000, async () => (await shown()) === second.fingerprint)
  assert.equal(server.pid, pid)
  assert.match(server.log(), /the certificate was replaced/)
})

test('who installs the authority from its page trusts the server, also with its next certificate', async () => {
  await using server = await openServer()
  const page = await server.request('/certificate/', { authorization: null, headers: { accept: 'text/html' } })
  const file = await server.request('/certificate/nightjar.crt', { authorization: null })
  assert.deepEqual([page.status, file.status], [200, 200])
  assert.equal(file.headers['content-type'], 'application/x-x509-ca-cert')
  const { fingerprint256 } = new X509Certificate(file.text)
  assert.ok(page.text.includes(fingerprint256))
  const printed = await server.command<{ certificate: string; fingerprint: string }>('certificate')
  assert.deepEqual([printed.certificate, printed.fingerprint], [file.text.trim(), fingerprint256])

  const shown = async () => {
    const { port } = new URL(server.url)
    const socket = tls.connect({
      host: 'localhost',
      family: 4,
      port: Number(port),
      ca: file.text,
    } as tls.ConnectionOptions)
    await once(socket, 'secureConnect')
    assert.ok(socket.authorized)
    const { fingerprint256 } = socket.getPeerCertificate()
    socket.destroy()
    return fingerprint256
  }
  const first = await shown()
  await server.stop()
  await rm(join(server.dataDir, 'tls/cert.pem'))
  await server.start()
  assert.notEqual(await shown(), first)
})

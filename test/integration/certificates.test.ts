// The operator replaces the certificate of a running server.

import assert from 'node:assert/strict'
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

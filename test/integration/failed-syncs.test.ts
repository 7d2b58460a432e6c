// When a sync of the database's disk fails with a system error, the server commits nothing more and ends with an error
// message. The next server finds everything that was committed before.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { failSyncs } from '../faults/traced-calls.ts'
import { openServer, type ServerUnderTest } from '../server-under-test.ts'

const isRunning = (pid: number) => existsSync(`/proc/${pid}/fd/0`)

async function addCameras(server: ServerUnderTest, count: number): Promise<number[]> {
  const statuses: number[] = []
  for (let i = 0; i < count; i++) {
    const body = { name: `Camera ${i}`, url: 'rtsp://127.0.0.1:9/none' }
    statuses.push(
      await server.request('/v1/cameras/', { method: 'POST', body }).then(
        ({ status }) => status,
        () => 0,
      ),
    )
  }
  return statuses
}

for (const { name, files } of [
  { name: 'log', files: ['nightjar.db-wal'] },
  { name: 'database at a checkpoint', files: ['nightjar.db'] },
]) {
  test(`a failed sync of the ${name} ends the server, and the next server finds all committed data`, async () => {
    await using server = await openServer()
    assert.deepEqual(await addCameras(server, 2), [201, 201])
    const { pid } = server
    const failing = await failSyncs(
      pid,
      files.map((file) => join(server.dataDir, file)),
    )
    const [status] = await addCameras(server, 1)
    if (name === 'log') assert.equal(status, 503)
    for (let i = 0; i < 600 && isRunning(pid); i++) await delay(100)
    assert.ok(!isRunning(pid), 'the server has ended')
    await failing[Symbol.asyncDispose]()
    assert.equal(await server.stop(), 1)
    assert.match(server.log(), /the disk did not confirm what was written to the database/)
    assert.ok((await readdir(server.dataDir)).includes('nightjar.db-wal'), 'the log is left for the next start')
    await server.start()
    const { json } = await server.request<{ results: unknown[] }>('/v1/cameras/')
    assert.ok(json.results.length >= (status === 201 ? 3 : 2))
  })
}

test('if the disk fails to sync the log at startup, the server ends before it commits anything', async (t) => {
  const server = await openServer()
  t.after(() => server[Symbol.asyncDispose]())
  await addCameras(server, 1)
  await server.kill()
  const entry = fileURLToPath(new URL('../../server/commands/nightjar.ts', import.meta.url))
  const inject = ['-e', 'trace=fsync,fdatasync', '-e', 'inject=fsync,fdatasync:error=EIO']
  const args = ['-f', '-qq', '-o', '/dev/null', '-P', join(server.dataDir, 'nightjar.db'), ...inject]
  const serve = [process.execPath, entry, 'serve', '--data', server.dataDir, '--host', '127.0.0.1', '--port', '0']
  const child = spawn('strace', [...args, ...serve], { stdio: ['ignore', 'ignore', 'pipe'] })
  const timeout = setTimeout(() => child.kill(), 30_000)
  const [stderr, [code]] = await Promise.all([text(child.stderr!), once(child, 'exit')])
  clearTimeout(timeout)
  assert.equal(code, 1)
  assert.match(stderr, /the disk did not confirm/)
  await server.start()
  assert.equal((await server.request<{ results: unknown[] }>('/v1/cameras/')).json.results.length, 1)
})

test('a key file whose folder entry cannot be synced is not used and not left behind', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-key-'))
  t.after(() => rm(folder, { recursive: true }))
  const module = new URL('../../server/auth/secret-key.ts', import.meta.url).href
  const program = `const { openSecretKey } = await import('${module}'); await openSecretKey('${folder}')`
  const inject = ['-e', 'trace=fsync', '-e', 'inject=fsync:error=EIO']
  const node = [process.execPath, '--input-type=module', '--eval', program]
  const child = spawn('strace', ['-f', '-qq', '-o', '/dev/null', '-P', folder, ...inject, ...node], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [stderr, [code]] = await Promise.all([text(child.stderr!), once(child, 'exit')])
  assert.equal(code, 1)
  assert.match(stderr, /unavailable|neither read nor made/)
  assert.deepEqual(await readdir(folder), [])
})

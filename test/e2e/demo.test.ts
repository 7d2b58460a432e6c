// The demo, started in an empty folder and once more with the same folder.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'

type Demo = { url: string; token: string; cameras: number[]; ca: string }

const script = fileURLToPath(new URL('../../scripts/demo.ts', import.meta.url))

async function startDemo(t: TestContext, ...args: string[]): Promise<{ child: ChildProcess; demo: Demo }> {
  const child = spawn(process.execPath, [script, '--json', '--port', '0', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  // Stop it before the folder is removed if the test fails.
  t.after(async () => {
    if (child.kill('SIGTERM')) await once(child, 'exit')
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  return { child, demo: JSON.parse(line) as Demo }
}

async function stopDemo(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM')
  const [code] = await once(child, 'exit')
  assert.equal(code, 0)
}

async function get({ url, token, ca }: Demo, path: string): Promise<{ status: number; json: unknown }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; json: unknown }>()
  const headers = { authorization: `PersonalAccessToken ${token}` }
  const outgoing = request(new URL(path, url), { ca: await readFile(ca), headers, agent: false }, async (response) => {
    let text = ''
    for await (const chunk of response) text += chunk
    resolve({ status: response.statusCode!, json: JSON.parse(text) })
  })
  outgoing.on('error', reject)
  outgoing.end()
  return promise
}

test('the demo plays, keeps its cameras and recordings in a persistent folder, and touches no other camera', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'nightjar-demo-test-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  const first = await startDemo(t, '--data', dataDir)
  assert.equal(first.demo.cameras.length, 2)
  const me = await get(first.demo, '/v1/me/')
  assert.equal(me.status, 200)
  const stream = await get(
    first.demo,
    `/v1/cameras/${first.demo.cameras[0]}/recording/stream/?start=2026-01-01T00:00:00Z`,
  )
  assert.equal(stream.status, 200)
  const { recording_start } = (await get(first.demo, `/v1/cameras/${first.demo.cameras[0]}/recording/`)).json as {
    recording_start: string
  }

  const entry = fileURLToPath(new URL('../../server/commands/nightjar.ts', import.meta.url))
  const nightjar = async (...args: string[]) => {
    const child = spawn(process.execPath, [entry, ...args, '--data', dataDir, '--json'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let text = ''
    for await (const chunk of child.stdout) text += chunk
    return JSON.parse(text)
  }
  await nightjar(
    'user',
    'add',
    '--email',
    'me@example.com',
    '--password',
    'my own words',
    '--first-name',
    'M',
    '--last-name',
    'E',
  )
  const own = await nightjar(
    'camera',
    'add',
    '--user',
    'me@example.com',
    '--name',
    'Door',
    '--url',
    'rtsp://192.0.2.9/door',
  )
  await stopDemo(first.child)

  const second = await startDemo(t, '--data', dataDir)
  assert.deepEqual(second.demo.cameras, first.demo.cameras)
  const again = (await get(second.demo, `/v1/cameras/${first.demo.cameras[0]}/recording/`)).json
  assert.equal((again as { recording_start: string }).recording_start, recording_start, 'the footage is still there')
  const { cameras } = await nightjar('camera', 'list')
  assert.ok(cameras.some((camera: { id: number }) => camera.id === own.id))
  await stopDemo(second.child)
})

test('the demo reports a port that is in use once and exits', async (t) => {
  const other = createServer().listen(0, '0.0.0.0')
  t.after(() => other.close())
  await once(other, 'listening')
  const { port } = other.address() as { port: number }
  const child = spawn(process.execPath, [script, '--port', String(port)], { stdio: ['ignore', 'ignore', 'pipe'] })
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  assert.equal(code, 1)
  assert.match(stderr, /^nightjar: cannot listen on .* another program listens there.*\n$/)
})

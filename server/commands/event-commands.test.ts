// Commands for events, on a real data folder.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runCommand } from '../../test/support/command-line.ts'

async function open(t: TestContext) {
  const data = await mkdtemp(join(tmpdir(), 'nightjar-cli-'))
  t.after(() => rm(data, { recursive: true }))
  const env = { PATH: process.env.PATH, NIGHTJAR_DATA: data }
  const run = (...words: string[]) => runCommand(words, { env })
  const succeed = async (...words: string[]) => {
    const { code, stderr, json } = await run(...words, '--json')
    assert.equal(code, 0, `${words.join(' ')}: ${stderr}`)
    return json
  }
  const person = ['--email', 'ada@example.com', '--first-name', 'Ada', '--last-name', 'Lind']
  await succeed('user', 'add', ...person, '--password', 'correct horse')
  const camera = ['--user', 'ada@example.com', '--name', 'Door', '--url', 'rtsp://camera.example/1']
  const { id, event_api_hash: hash } = await succeed('camera', 'add', ...camera)
  return { run, succeed, id: String(id), hash }
}

test('events are added and listed as in the API', async (t) => {
  const { run, succeed, id } = await open(t)
  assert.match((await run('event', 'list', '--camera', id)).stdout, /There are no events/)
  const said = ['--title', 'Bell', '--category', 'bell', '--occurred-at', '2026-05-01T12:00:00+02:00']
  const added = await succeed('event', 'add', id, ...said, '--details', '{"a":[1]}')
  assert.deepEqual(added, {
    ...{ id: added.id, camera: Number(id), site: null, title: 'Bell', category: 'bell', source: 'api' },
    ...{ occurred_at: '2026-05-01T10:00:00Z', received_at: added.received_at, data: { a: [1] } },
  })
  const plain = await succeed('event', 'add', id)
  assert.deepEqual([plain.title, plain.category, plain.data], [null, 'generic', null])
  assert.deepEqual(await succeed('event', 'list', '--camera', id), { count: 2, events: [plain, added] })
  const page = ['--end', '2026-05-02T00:00:00Z', '--limit', '1']
  assert.deepEqual(await succeed('event', 'list', '--user', 'ada@example.com', ...page), { count: 1, events: [added] })
  assert.deepEqual(await succeed('event', 'list', '--user', '1', '--offset', '2'), { count: 2, events: [] })
  const { stdout } = await run('event', 'list', '--camera', id, '--limit', '1', '--offset', '1')
  assert.match(stdout, /2026-05-01T10:00:00Z +1 +bell +api +Bell +\{"a":\[1\]\}\n1 of 2\.\n$/)
})

test('invalid options are reported, and nothing is added', async (t) => {
  const { run, succeed, id } = await open(t)
  const wrong: [number, RegExp, string[]][] = [
    [2, /--user or --camera/, ['list']],
    [2, /--user or --camera/, ['list', '--user', '1', '--camera', id]],
    [2, /--limit: expected a whole number from 1 to 1000/, ['list', '--user', '1', '--limit', '0']],
    [1, /start: Datetime has wrong format/, ['list', '--user', '1', '--start', 'yesterday']],
    [1, /end must be later/, ['list', '--user', '1', '--start', '2026-01-01T00:00Z', '--end', '2026-01-01T00:00Z']],
    [1, /no user bob/, ['list', '--user', 'bob']],
    [1, /no camera 99/, ['list', '--camera', '99']],
    [1, /no camera 99/, ['add', '99']],
    [1, /no camera door/, ['add', 'door']],
    [1, /--category: expected/, ['add', id, '--category', 'A B']],
    [1, /--title: expected at most 200/, ['add', id, '--title', 'x'.repeat(201)]],
    [1, /--details: expected JSON/, ['add', id, '--details', '{']],
    [1, /data: .* 4096 bytes/, ['add', id, '--details', JSON.stringify('x'.repeat(5000))]],
    [1, /occurred_at: .* one day in the future/, ['add', id, '--occurred-at', '2999-01-01T00:00:00Z']],
    [2, /CAMERA_ID is missing/, ['add']],
  ]
  for (const [code, message, words] of wrong) {
    const outcome = await run('event', ...words)
    assert.deepEqual([outcome.code, outcome.stdout], [code, ''], words.join(' '))
    assert.match(outcome.stderr, message)
  }
  assert.equal((await succeed('event', 'list', '--camera', id)).count, 0)
})

test('a leaked hash can be replaced', async (t) => {
  const { run, succeed, id, hash } = await open(t)
  const rotated = await succeed('camera', 'rotate-hash', id)
  assert.match(rotated.event_api_hash, /^[0-9a-f]{32}$/)
  assert.notEqual(rotated.event_api_hash, hash)
  assert.match((await run('camera', 'rotate-hash', '99')).stderr, /no camera 99/)
  const { events } = await succeed('audit', 'list', '--limit', '1')
  assert.deepEqual([events[0].event, events[0].detail.camera], ['camera.hash_replaced', Number(id)])
})

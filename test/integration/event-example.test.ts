// The example shell script that posts an event with the camera's hash, run with the installed `sh` and curl.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openServerHere, type ServerUnderTest } from '../server-under-test.ts'

const script = fileURLToPath(new URL('../../examples/post-event.sh', import.meta.url))

let server: ServerUnderTest
let camera: { id: number; event_api_hash: string }

before(async () => {
  server = await openServerHere()
  const id = await server.addCamera('Door', 'rtsp://127.0.0.1:9/door')
  camera = (await server.request<typeof camera>(`/v1/cameras/${id}/`)).json
})
after(() => server[Symbol.asyncDispose]())

function post(args: readonly string[], env: Record<string, string> = {}) {
  const given = { NIGHTJAR_URL: server.url, NIGHTJAR_HASH: camera.event_api_hash, CURL_CA_BUNDLE: server.caFile }
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile('sh', [script, ...args], { env: { ...process.env, ...given, ...env } }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    )
  })
}

type Event = { camera: number; title: string | null; category: string; source: string }

test('a device posts an event whose title contains special characters', async () => {
  const title = `Somebody "rang" \\ twice, 'Ünïcödé' 🦉 $HOME \`id\``
  const { code, stdout, stderr } = await post([title, 'doorbell'], { NIGHTJAR_URL: `${server.url}/` })
  assert.deepEqual([code, stderr], [0, ''])
  const { camera: cameraId, ...said } = JSON.parse(stdout) as Event
  assert.deepEqual([cameraId, said.title, said.category, said.source], [camera.id, title, 'doorbell', 'device'])
  const lines = JSON.parse((await post(['two\nlines'])).stdout) as Event
  assert.deepEqual([lines.title, lines.category], ['two lines', 'generic'])
  assert.equal((JSON.parse((await post([])).stdout) as Event).title, null)
  const { json } = await server.request<{ count: number }>(`/v1/events/${camera.id}/?limit=10`)
  assert.equal(json.count, 3)
})

test('the server or the script reports invalid input', async () => {
  const cases: [string[], Record<string, string>, number, RegExp][] = [
    [['x', 'Not a category'], {}, 1, /answered 400: .*category/],
    [['x'], { NIGHTJAR_HASH: 'nobodys' }, 1, /answered 401: .*not_authenticated/],
    [['x'], { NIGHTJAR_HASH: '' }, 2, /NIGHTJAR_HASH is not set/],
    [['x'], { NIGHTJAR_URL: '' }, 2, /NIGHTJAR_URL is not set/],
    [['x', 'y', 'z'], {}, 2, /^post-event\.sh: usage: /],
    [['x'], { NIGHTJAR_URL: 'https://127.0.0.1:9' }, 7, /curl: \(7\)/],
  ]
  for (const [args, env, code, expected] of cases) {
    const answer = await post(args, env)
    assert.deepEqual([answer.code, answer.stdout], [code, ''], args.join(' '))
    assert.match(answer.stderr, expected)
  }
  assert.match((await post(['--help'])).stdout, /^usage: /)
})

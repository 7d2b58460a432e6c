// Camera URLs that lead to the server itself, in every notation, with open ports, closed ports and the server's own
// port.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { hostname } from 'node:os'
import { test } from 'node:test'
import type { Camera } from '../../contract/camera.ts'
import { openSecretKey } from '../../server/auth/secret-key.ts'
import { openStore } from '../../server/store/store.ts'
import { eventually, openServer, type ServerUnderTest } from '../server-under-test.ts'
import { findOwnPort } from '../support/own-port.ts'

const spellings = [
  ...['127.0.0.1', '127.1', '127.255.255.254', '2130706433', '0x7f000001', '0x7f.1', '0177.0.0.1', '017700000001'],
  ...['localhost', 'LOCALHOST', 'localhost.', hostname(), '0', '0.0.0.0', '169.254.169.254', '100.100.100.200'],
  ...[
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[::ffff:0:7f00:1]',
  ],
  ...[
    '[64:ff9b::7f00:1]',
    '[64:ff9b:1::7f00:1]',
    '[2002:7f00:1::]',
    '[2001:0:7f00:1::]',
    '[fe80::1]',
    '[fd00:ec2::254]',
  ],
  ...['10.0.0.1', '192.168.0.1', '172.31.0.1', '100.64.0.1', '[fd00::1]', '0xc0a80001'],
  '%31%32%37.0.0.1',
]

const otherSchemes = [
  ...[
    'file:///etc/passwd',
    'unix:/run/x.sock',
    'http+unix://%2Frun%2Fx.sock/',
    'pipe:0',
    'concat:a|b',
    'data:,x',
    'ftp://h/',
  ],
  ...[
    'gopher://127.0.0.1:6379/_x',
    'tcp://127.0.0.1:1',
    'udp://127.0.0.1:1',
    'rtp://127.0.0.1:1',
    'rtmp://127.0.0.1/',
    '/dev/video0',
  ],
  ...[
    'hls+http://127.0.0.1/',
    'subfile,,start,0,end,0,,:/etc/passwd',
    'rtsp:127.0.0.1',
    'javascript:alert(1)',
    'ws://127.0.0.1/',
  ],
]

type Detection = { readonly problem: { readonly code: string; readonly detail: string } | null }
type Refusal = { readonly detail: string; readonly errors: { readonly url: readonly string[] } }

const post = <T>(server: ServerUnderTest, path: string, url: string) =>
  server.request<T>(path, { method: 'POST', body: { name: 'x', url } })

/** Bypasses the API, which rejects most of these at once, to test the check of each connection. */
async function addRows(server: ServerUnderTest, urls: readonly string[]): Promise<Map<number, string>> {
  const credentialsKey = (await openSecretKey(server.dataDir)).deriveKey('camera credentials')
  await using store = await openStore({ database: server.database, credentialsKey, foreignIntervalMs: 0 })
  const [owner] = await store.users.list()
  const names = new Map<number, string>()
  for (const url of urls) {
    const row = { ownerId: owner!.id, name: url, type: 'h264', url, username: null, password: null } as const
    names.set((await store.cameras.insert(row)).id, url)
  }
  return names
}

/** As many as one user may have tested at the same time: each takes seconds, whatever it finds. */
async function twoAtOnce(urls: readonly string[], test: (url: string) => Promise<void>): Promise<void> {
  const waiting = [...urls]
  const lane = async () => {
    for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) await test(url)
  }
  await Promise.all([lane(), lane()])
}

test("T34: no URL that leads to the server's own host is connected to, and open ports cannot be told from closed ones", async (t) => {
  let visits = 0
  const canary = createServer((socket) => {
    visits++
    socket.destroy()
  })
  t.after(() => canary.close())
  // At a port of its own, because clients of a closed server may still try to connect to one the system has assigned before.
  canary.listen(await findOwnPort('::'), '::')
  await once(canary, 'listening')
  await using server = await openServer(
    '--no-allow-loopback-cameras',
    '--sign-up',
    'open',
    '--rate-limit',
    '0',
    '--log-level',
    'debug',
  )
  const ports = [(canary.address() as AddressInfo).port, await findOwnPort(), Number(new URL(server.url).port)]

  const urls = spellings.flatMap((host) => [
    ...ports.map((port, i) => `${['rtsp', 'http', 'https'][i]}://${host}:${port}/x`),
    `rtsp://${host}:${ports[0]}/x`,
  ])
  const names = await addRows(server, urls)
  const cameras = await eventually('all cameras have a reason', 60_000, async () => {
    const { results } = (await server.request<{ results: Camera[] }>('/v1/cameras/?limit=1000')).json
    return results.every(({ status }) => status === 'offline') && results
  })
  assert.equal(cameras.length, spellings.length * 4)
  const refusal = 'The URL of this camera is not allowed: it leads to this server, or to a private or reserved network.'
  const others = cameras.flatMap(({ id, status_reason }) =>
    status_reason === refusal ? [] : [[names.get(id), status_reason]],
  )
  // Names that cannot be resolved are reported, whatever the port. (HTTP allows percent-encoded hosts; in RTSP they are
  // names.)
  const unresolved = others.filter(([, reason]) => /is not known\.$/.test(reason ?? ''))
  assert.deepEqual(others, unresolved)
  assert.ok(unresolved.length <= 8, JSON.stringify(unresolved))

  for (const url of otherSchemes) {
    assert.equal((await post(server, '/v1/cameras/', url)).status, 400, url)
    assert.equal((await post(server, '/v1/cameras/stream-detection/', url)).status, 400, url)
  }
  // IP addresses and names that stand for one are rejected at once with the same message; other names may resolve to a
  // different address later.
  const isName = (url: string) => url.includes(`//${hostname()}:`) || url.startsWith('rtsp://%31')
  const cameraId = [...names.keys()][0]!
  for (const url of urls.filter((url) => !isName(url))) {
    const { status, json } = await post<Refusal>(server, '/v1/cameras/', url)
    assert.deepEqual([status, json.detail, json.errors], [400, `url: ${refusal}`, { url: [refusal] }], url)
    const changed = await server.request<Refusal>(`/v1/cameras/${cameraId}/`, {
      method: 'PUT',
      body: { url: `${url}?` },
    })
    assert.deepEqual([changed.status, changed.json.errors], [400, { url: [refusal] }], url)
    // A connection of which requests are refused all the time would have to wait for a second before each.
    const kept = await server.request<Camera>(`/v1/cameras/${cameraId}/`)
    assert.deepEqual([kept.status, kept.json.id], [200, cameraId])
  }
  const own = `rtsp://${hostname()}:${ports[0]}/x`
  assert.equal((await server.request('/v1/cameras/', { method: 'POST', body: { name: 'x', type: 'h264', url: own } })).status, 201) // biome-ignore format: one line
  // An existing camera can still be renamed.
  const renamed = { method: 'PUT', body: { name: 'Door', url: names.get(cameraId) } }
  assert.equal((await server.request(`/v1/cameras/${cameraId}/`, renamed)).status, 200)
  await using other = await openServer('--no-allow-loopback-cameras', '--sign-up', 'open')
  // No more than one user may run in a minute.
  const detected = ['127.0.0.1', '0x7f.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '10.0.0.1', hostname()]
  const onvif = ['127.0.0.1', '0x7f.1', '[::1]', '10.0.0.1']
  await Promise.all([
    twoAtOnce(
      detected.flatMap((host) => ports.map((port, i) => `${['rtsp', 'http', 'https'][i]}://${host}:${port}/x`)),
      async (url) => {
        const { status, json } = await post<Detection>(server, '/v1/cameras/stream-detection/', url)
        assert.equal(status, 200, url)
        assert.deepEqual([json.problem?.code, json.problem?.detail], ['address_refused', refusal], url)
      },
    ),
    twoAtOnce(
      onvif.flatMap((host) => ports.map((port) => `http://${host}:${port}/onvif/device_service`)),
      async (url) => {
        const path = '/v1/cameras/onvif-profiles/'
        const { json } = await other.request<Detection>(path, { method: 'POST', body: { url } })
        assert.deepEqual([json.problem?.code, json.problem?.detail], ['address_refused', refusal], url)
      },
    ),
  ])
  assert.equal(visits, 0)
})

test('T34: the server itself is not accepted as a camera even if cameras on the same host are allowed', async () => {
  await using server = await openServer()
  const { port } = new URL(server.url)
  const urls = [`https://127.0.0.1:${port}/`, `https://localhost:${port}/`, `rtsp://127.0.0.9:${port}/`]
  for (const [id, url] of await addRows(server, urls)) {
    assert.equal((await post(server, '/v1/cameras/', url)).status, 400, url)
    const { status_reason } = await eventually('the reason is reported', 20_000, async () => {
      const { json } = await server.request<Camera>(`/v1/cameras/${id}/`)
      return json.status === 'offline' && json
    })
    assert.match(status_reason ?? '', /leads to this server/, url)
  }
})

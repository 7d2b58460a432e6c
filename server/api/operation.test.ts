// Health, metrics, and what happens when the port is taken.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTemporaryApi } from '../../test/support/api/temporary-api.ts'
import { joinMetrics } from './metrics.ts'

test('health reports the progress of repairing files after a crash', async (t) => {
  let pending = 2
  const repair = () => ({ pending, repaired: 5 - pending, failed: 0 })
  const { api } = await openTemporaryApi(t, { repair })
  const ask = async () => (await api.server.inject({ url: '/healthz' })).json()
  assert.deepEqual(await ask(), {
    status: 'ok',
    repair: { pending_files: 2, repaired_files: 3, failed_files: 0 },
  })
  pending = 0
  assert.deepEqual(await ask(), { status: 'ok' })
})

test('health needs no credentials and says whether the store answers', async (t) => {
  const { api, store } = await openTemporaryApi(t)
  const well = await api.server.inject({ url: '/healthz' })
  assert.deepEqual([well.statusCode, well.body], [200, '{"status":"ok"}'])
  store.check = async () => {
    throw new Error('disk')
  }
  const ill = await api.server.inject({ url: '/healthz' })
  assert.equal(ill.statusCode, 503)
  assert.ok(!ill.body.includes('disk'))
})

test('a server that is about to stop says so to balancers, and answers everything else', async (t) => {
  const { api, addUser } = await openTemporaryApi(t)
  const { authorization } = await addUser('owner@example.com')
  api.drain()
  const health = await api.server.inject({ url: '/healthz' })
  assert.deepEqual([health.statusCode, health.headers['retry-after']], [503, '5'])
  assert.equal((await api.server.inject({ url: '/v1/me/', headers: { authorization } })).statusCode, 200)
})

test('metrics are available to this machine only and contain all measurements', async (t) => {
  const { api } = await openTemporaryApi(t, {
    measure: () => [
      { name: 'cameras', help: 'Cameras.', kind: 'gauge', value: 3 },
      { name: 'by_status', help: 'By status.', kind: 'gauge', value: 2, labels: { status: 'online' } },
      { name: 'by_status', help: 'By status.', kind: 'gauge', value: 1, labels: { status: 'offline' } },
      { name: 'frames_total', help: 'Frames.', kind: 'counter', value: 5 },
    ],
  })
  const here = await api.server.inject({ url: '/metrics', remoteAddress: '127.0.0.1' })
  assert.equal(here.statusCode, 200)
  assert.match(here.body, /^nightjar_cameras 3$/m)
  assert.match(here.body, /^nightjar_by_status\{status="online"\} 2\nnightjar_by_status\{status="offline"\} 1$/m)
  assert.match(here.body, /^# TYPE nightjar_frames_total counter$/m)
  assert.match(here.body, /^nightjar_frames_total 5$/m)
  assert.match(here.body, /^nightjar_open_streams 0$/m)
  assert.match(here.body, /^nightjar_process_resident_memory_bytes /m)
  assert.equal((await api.server.inject({ url: '/metrics', remoteAddress: '192.168.1.2' })).statusCode, 403)
  const forwarded = { 'x-forwarded-for': '192.168.1.2' }
  const proxied = await api.server.inject({ url: '/metrics', remoteAddress: '127.0.0.1', headers: forwarded })
  assert.equal(proxied.statusCode, 403)
})

test('metrics of several servers are one text that a scraper reads, each with its server', () => {
  const textOf = (open: number) =>
    `# HELP open Open.\n# TYPE open gauge\nopen ${open}\n\n# HELP took Took.\n# TYPE took histogram\ntook_bucket{le="0.1"} 2\ntook_sum 3e-2\ntook_count ${open}\n`
  const servers = [
    { name: 'n2', text: textOf(2) },
    { name: 'n1', text: textOf(1) },
    { name: 'n3', text: undefined },
  ]
  assert.equal(
    joinMetrics(servers),
    `# HELP nightjar_server_up Whether the server has answered.
# TYPE nightjar_server_up gauge
nightjar_server_up{server="n1"} 1
nightjar_server_up{server="n2"} 1
nightjar_server_up{server="n3"} 0

# HELP open Open.
# TYPE open gauge
open{server="n1"} 1
open{server="n2"} 2

# HELP took Took.
# TYPE took histogram
took_bucket{server="n1",le="0.1"} 2
took_sum{server="n1"} 3e-2
took_count{server="n1"} 1
took_bucket{server="n2",le="0.1"} 2
took_sum{server="n2"} 3e-2
took_count{server="n2"} 2
`,
  )
})

test('a port that is in use is explained', async (t) => {
  const [one, two] = [await openTemporaryApi(t), await openTemporaryApi(t)]
  const port = await one.api.listen({ host: '127.0.0.1', port: 0 })
  await assert.rejects(two.api.listen({ host: '127.0.0.1', port }), {
    message: `cannot listen on 127.0.0.1 port ${port}: another program listens there (--port names another port)`,
  })
})

// Two servers of one database: one has the cameras, the other only answers. Both answer everything alike.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Camera } from '../../contract/camera.ts'
import type { Timeline } from '../../contract/recording.ts'
import type { ServerState } from '../../contract/server.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { countMails } from '../identity/provider-visits.ts'
import {
  eventually,
  openAnsweringServer,
  openEmptyServer,
  openServerHere,
  ownerEmail,
  type ServerUnderTest,
} from '../server-under-test.ts'
import { findOwnPort } from '../support/own-port.ts'
import { testPostgres } from './each-database.ts'
import type { TemporaryPostgres } from './temporary-postgres.ts'

async function openBoth(t: TestContext, postgres: TemporaryPostgres) {
  process.env.NIGHTJAR_DATABASE = await postgres.createDatabase()
  t.after(() => delete process.env.NIGHTJAR_DATABASE)
  const peerPort = await findOwnPort()
  const first = await openServerHere('--node-name', 'n1', '--peer-address', `127.0.0.1:${peerPort}`)
  t.after(() => first[Symbol.asyncDispose]())
  const second = await openAnsweringServer(first, '--node-name', 'n2')
  t.after(() => second[Symbol.asyncDispose]())
  return { first, second, peerPort }
}

/**
 * A stream of a token of its own. The result ends it, and gives the milliseconds until then. Use two, one after the other:
 * if only the regular check ended them, every half a minute, the second one would take that long.
 */
async function openRevocable(first: ServerUnderTest, second: ServerUnderTest, path: string) {
  const { id, token } = await first.command<{ id: number; token: string }>('token', 'create', '--user', ownerEmail)
  const authorization = `PersonalAccessToken ${token}`
  const { json } = await second.request<Camera>(path, { authorization })
  const stream = await openStream(second, mp4Of(json))
  return async () => {
    assert.equal((await second.request('/v1/me/', { authorization })).status, 200)
    await first.command('token', 'revoke', String(id))
    const revokedMs = performance.now()
    await stream.ended
    const isRefused = async () => (await second.request('/v1/me/', { authorization })).status === 401
    await eventually('the token is refused', 8000, isRefused)
    const tookMs = Math.round(performance.now() - revokedMs)
    // 0.1 s when nothing else runs.
    assert.ok(tookMs < 8000, `${tookMs} ms`)
    return tookMs
  }
}

testPostgres('a server without cameras answers like the one that has them', async (t, postgres) => {
  await using source = await openFakeCamera({ streams: [{ name: 'a', width: 320, height: 180, gopFrames: 15 }] })
  const { first, second } = await openBoth(t, postgres)
  const body = { name: 'Door', url: source.url('a'), type: 'h264' }
  const { status, json } = await second.request<Camera>('/v1/cameras/', { method: 'POST', body })
  assert.equal(status, 201, JSON.stringify(json))
  const path = `/v1/cameras/${json.id}/`
  const recording = { method: 'POST', body: { retention: 'P1D' } }
  assert.equal((await second.request(`${path}recording/`, recording)).status, 201)
  const readTimeline = (server = second) => {
    const time = (ms: number) => new Date(ms).toISOString()
    const query = `start=${time(Date.now() - 600_000)}&end=${time(Date.now() + 10_000)}`
    return server.request<Timeline>(`${path}recording/timeline/?${query}`)
  }
  await eventually('footage', 20_000, async () => (await readTimeline()).json.segments.length > 0)
  const [here, there] = [(await readTimeline(first)).json, (await readTimeline()).json]
  assert.equal(here.segments[0]!.start, there.segments[0]!.start)
  const camera = await eventually('the status', 5000, async () => {
    const { json } = await second.request<Camera>(path)
    return json.status === 'online' && json
  })
  const { pathname, search } = new URL(camera.live_snapshot)
  const image = await second.request(pathname + search, { authorization: null })
  assert.deepEqual([image.status, image.headers['content-type']], [200, 'image/jpeg'])

  // What is known of all, at any of them.
  const { json: state } = await second.request<ServerState>('/v1/server/')
  assert.deepEqual(
    state.servers.map(({ name, answers, has_cameras }) => [name, answers, has_cameras]),
    [
      ['n1', true, true],
      ['n2', true, false],
    ],
  )
  assert.deepEqual(
    state.servers.map(({ cameras, cameras_by }) => [cameras, cameras_by.spread]),
    [
      [1, 1],
      [0, 0],
    ],
  )
  for (const [server, states] of [
    [first, ['n1"} 1', 'n2"} 0']],
    [second, ['n1"} 1', 'n2"} 1']],
  ] as const) {
    const { status, text } = await server.request('/metrics?servers=all', { authorization: null })
    assert.equal(status, 200)
    for (const state of states) assert.match(text, new RegExp(`^nightjar_server_up{server="${state}$`, 'm'))
    assert.match(text, /^nightjar_open_streams\{server="n1"\} 0$/m)
  }

  // An email that one server writes is sent by the one with the cameras, once.
  const guest = { email: 'guest@example.org' }
  const invited = await second.request(`${path}guests/`, { method: 'POST', body: guest })
  assert.equal(invited.status, 201, invited.text)
  const countSent = () => countMails(first, /^To: .*guest@example\.org/m)
  await eventually('the invitation', 5000, async () => (await countSent()) > 0)
  await delay(500)
  assert.deepEqual([await countSent(), await countMails(second, /^To:/m)], [1, 0])

  // What is revoked at one server ends at the other, and what is open there.
  const stream = await openStream(second, mp4Of(camera))
  const revocations = [await openRevocable(first, second, path), await openRevocable(first, second, path)]
  for (const revoke of revocations) await revoke()
  stream.close()

  // Without the server with the cameras, the other one says so, and answers the rest.
  await first.stop()
  const { status: without, headers } = await second.request(`${path}statistics/`)
  assert.deepEqual([without, headers['retry-after']], [503, '5'])
  assert.equal((await second.request(path)).status, 200)
  await first.start()
  await eventually(
    'the cameras are back',
    5000,
    async () => (await second.request(`${path}statistics/`)).status === 200,
  )
})

testPostgres('what is revoked ends soon although the connection that tells of it is silent', async (t, postgres) => {
  await using source = await openFakeCamera({ streams: [{ name: 'a', width: 320, height: 180, gopFrames: 15 }] })
  const { first, second } = await openBoth(t, postgres)
  const id = await first.addCamera('Door', source.url('a'), '--record', 'P1D')
  await eventually('the camera', 10_000, async () => {
    return (await second.request<Camera>(`/v1/cameras/${id}/`)).json.status === 'online'
  })
  const path = `/v1/cameras/${id}/`
  const revocations = [await openRevocable(first, second, path), await openRevocable(first, second, path)]
  const listening = await postgres.query<{ pid: number }>(
    `select pid from pg_stat_activity where query in ('listen nightjar_changes', 'select 1') and application_name <> ''`,
  )
  assert.ok(listening.length >= 2)
  const signal = (name: NodeJS.Signals) => {
    for (const { pid } of listening) process.kill(pid, name)
  }
  signal('SIGSTOP')
  t.after(() => signal('SIGCONT'))
  // Both have heard the last answer.
  await delay(500)
  for (const revoke of revocations) t.diagnostic(`${await revoke()} ms`)
})

testPostgres('a server that cannot be one of the database does not start, and says why', async (t, postgres) => {
  const { first, second } = await openBoth(t, postgres)
  const { nodes } = await first.command<{ nodes: { name: string; has_cameras: boolean }[] }>('node', 'list')
  assert.deepEqual(
    nodes.map(({ name, has_cameras: has }) => [name, has]),
    [
      ['n1', true],
      ['n2', false],
    ],
  )
  await assert.rejects(first.command('node', 'remove', 'n2'), /n2 is running/)
  await assert.rejects(openAnsweringServer(first, '--node-name', 'n2'), /another server is called n2, on .*--node-name/)
  await using folder = await mkdtempDisposable(join(tmpdir(), 'nightjar-key-'))
  const keyFile = join(folder.path, 'other.key')
  const withKey = () => openAnsweringServer(first, '--node-name', 'n3', '--secret-key-file', keyFile)
  await assert.rejects(withKey(), /there is no key file .*: copy secret.key from the data folder/)
  await writeFile(keyFile, `${'0'.repeat(63)}1\n`)
  await assert.rejects(withKey(), /is not the key this database was made with/)
  await assert.rejects(openEmptyServer('--node-name', 'n4'), /is not the key this database was made with/)
  const ownKey = ['--secret-key-file', join(first.dataDir, 'secret.key')]
  await assert.rejects(
    openEmptyServer('--node-name', 'n4', ...ownKey),
    /n1 .* has cameras of this database too: .* need the option peer-address, which n4 has not/,
  )
  await second.stop()
  assert.equal((await first.command<{ nodes: unknown[] }>('node', 'list')).nodes.length, 1)
})

const mp4Of = ({ streams }: Camera) => new URL(streams.find(({ format }) => format === 'mp4')!.url)

/** `ended` resolves when the server ends the stream. */
async function openStream({ ca, url }: ServerUnderTest, { pathname, search }: URL) {
  const outgoing = request(new URL(pathname + search, url), { ca, agent: false }).end()
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  assert.equal(response.statusCode, 200)
  response.resume()
  return { ended: new Promise((resolve) => response.once('close', resolve)), close: () => outgoing.destroy() }
}

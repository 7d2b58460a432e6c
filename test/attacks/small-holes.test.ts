// Past weaknesses in which one request, or some hundred, obtained something from a running server that the caller was
// not entitled to.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { connect } from 'node:tls'
import type { Camera } from '../../contract/camera.ts'
import { withStore } from '../../server/commands/open-data.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServerHere, openServerWith, type ServerUnderTest } from '../server-under-test.ts'
import { inspectable, openMemoryInspector } from './server-memory.ts'

const yard = { name: 'yard', width: 320, height: 180, framesPerSecond: 10, gopFrames: 10, loopSeconds: 2 }

async function addGuest(server: ServerUnderTest): Promise<void> {
  const person = ['--email', 'gus@example.com', '--first-name', 'Gus', '--last-name', 'Guest']
  await server.command('user', 'add', '--password', 'correct horse', ...person)
}

async function createToken(server: ServerUnderTest, user: string): Promise<string> {
  return (await server.command<{ token: string }>('token', 'create', '--user', user)).token
}

test('an account that does not own the server can have at most one hundred cameras', async () => {
  await using server = await openServerHere('--rate-limit', '0')
  await addGuest(server)
  const authorization = `PersonalAccessToken ${await createToken(server, 'gus@example.com')}`
  const body = { name: 'Yard', type: 'h264', url: 'rtsp://127.0.0.1:9/' }
  const add = async (options = {}) =>
    (await server.request('/v1/cameras/', { method: 'POST', body, ...options })).status
  for (const options of [{ authorization }, {}]) assert.equal(await add(options), 201)
  // Requests would count as attempts to reach IP addresses, which are limited to thirty per account and minute.
  await server.stop()
  await copyCameras(server, 98)
  await server.start()
  assert.equal(await add({ authorization }), 201)
  assert.equal(await add({ authorization }), 400)
  assert.equal(await add(), 201, 'of the owner')
})

/** Adds this many copies of each camera. */
async function copyCameras({ dataDir }: ServerUnderTest, count: number): Promise<void> {
  await withStore({ data: dataDir, database: join(dataDir, 'nightjar.db') }, async ({ cameras }) => {
    for (const camera of await cameras.list()) {
      const { ownerId, name, type, url, username, password } = camera
      for (let i = 0; i < count; i++) await cameras.insert({ ownerId, name, type, url, username, password })
    }
  })
}

test('only the newest hundred recorded streams of an account are kept', async () => {
  await using camera = await openFakeCamera({ streams: [{ ...yard, hasAudio: false, bitsPerSecond: 200_000 }] })
  await using server = await openServerHere('--rate-limit', '0')
  const body = { name: 'Yard', type: 'h264', url: camera.url('yard') }
  const { id } = (await server.request<Camera>('/v1/cameras/', { method: 'POST', body })).json
  const beganMs = Date.now()
  await server.command('camera', 'record', `${id}`, '--retention', 'P1D')
  const timeOf = (ms: number) => new Date(ms).toISOString()
  const create = async () => {
    const range = `start=${timeOf(beganMs - 1000)}&end=${timeOf(Date.now())}`
    const answer = await server.request<{ url: string }>(`/v1/cameras/${id}/recording/stream/?${range}`)
    return answer.status === 200 && answer.json.url
  }
  const open = async (url: string) => (await server.request(url, { authorization: null })).status
  const first = await eventually('the camera has footage', 60_000, async () => {
    const url = await create()
    return url && (await open(url)) === 200 && url
  })
  const others: string[] = []
  for (let i = 0; i < 100; i++) others.push((await create()) || assert.fail('no stream'))
  assert.equal(await open(first), 404)
  for (const url of [others[0]!, others[50]!, others[99]!]) assert.equal(await open(url), 200)
})

test('guesses of recorded stream IDs are limited per IP address before the database is queried', async () => {
  await using server = await openServerHere('--rate-limit', '60')
  // Known users are not locked out by others at the same IP address.
  assert.equal((await server.request('/v1/me/')).status, 200)
  const statuses: number[] = []
  for (let i = 0; i < 150; i++) {
    const url = `/recording/streams/${String(i).padStart(32, '1')}/hls/playlist.m3u8`
    statuses.push((await server.request(url, { authorization: null })).status)
  }
  assert.ok(statuses.includes(429), 'some guesses are refused')
  assert.ok(statuses.filter((status) => status === 404).length < 100, `${statuses}`)
  assert.equal((await server.request('/v1/me/')).status, 200)
})

test('a request target that names another host is rejected regardless of its token', async () => {
  await using server = await openServerHere()
  const port = Number(new URL(server.url).port)
  const send = async (target: string) => {
    const socket = connect({ host: '127.0.0.1', port, ca: server.ca, servername: 'localhost' })
    const head = `Host: localhost\r\nAuthorization: PersonalAccessToken ${server.token}\r\nConnection: close`
    socket.write(`GET ${target} HTTP/1.1\r\n${head}\r\n\r\n`)
    const [, status] = /^HTTP\/1\.1 (\d+) /.exec(await text(socket)) ?? []
    return Number(status)
  }
  for (const origin of ['http://evil.example', 'https://evil.example:8443', 'https://localhost@evil.example']) {
    assert.equal(await send(`${origin}/v1/me/`), 421, origin)
  }
  assert.equal(await send(`https://localhost:${port}/v1/me/`), 200)
})

test('an account has one request limit, regardless of how many applications use it', async () => {
  await using server = await openServerHere('--rate-limit', '60')
  await addGuest(server)
  const answered: number[] = []
  const beganMs = Date.now()
  for (let i = 0; i < 4; i++) {
    const body = { name: `App ${i}`, redirect_uris: ['https://app.example/cb'], password: 'correct horse' }
    const made = await server.request<{ client_id: string }>('/v1/me/applications/', { method: 'POST', body })
    const { client_id } = made.json
    const form = { grant_type: 'password', username: 'gus@example.com', password: 'correct horse', client_id }
    const granted = await server.request<{ access_token: string }>('/oauth/token/', {
      ...{ method: 'POST', authorization: null, form },
    })
    assert.equal(granted.status, 200, granted.text)
    const authorization = `Bearer ${granted.json.access_token}`
    for (let k = 0; k < 70; k++) answered.push((await server.request('/v1/me/', { authorization })).status)
  }
  // One request per second becomes available again.
  const most = 61 + Math.ceil((Date.now() - beganMs) / 1000)
  const good = answered.filter((status) => status === 200).length
  assert.ok(good >= 55 && good <= most, `${good} answered, ${most} at most`)
})

test('a heap snapshot contains no tokens of earlier callers', async () => {
  await using server = await openServerWith({ NODE_OPTIONS: inspectable })
  const tokens: string[] = []
  for (let i = 0; i < 20; i++) {
    const body = { name: `token ${i}` }
    tokens.push((await server.request<{ token: string }>('/v1/me/tokens/', { method: 'POST', body })).json.token)
  }
  for (const token of tokens) {
    const authorization = `PersonalAccessToken ${token}`
    assert.equal((await server.request('/v1/me/', { authorization })).status, 200)
  }
  // Tokens of the last connections may not have been collected yet.
  for (let i = 0; i < 20; i++) await server.request('/v1/me/')
  using inspector = await openMemoryInspector(server)
  const dump = await inspector.dump()
  assert.ok(
    dump.includes('credentials.in_clear') || dump.includes('PersonalAccessToken'),
    'the snapshot contains strings of the server',
  )
  const found = tokens.filter((token) => dump.includes(token.replace(/^[a-z]+_/, '')))
  assert.ok(found.length <= 2, `${found.length} of ${tokens.length} tokens are in memory`)
})

// The SDK against the running server. To simulate a lost response, the request is sent and its response is discarded.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import {
  createAuthorizeUrl,
  createClient,
  exchangeCode,
  type Fetch,
  findStreamUrl,
  logInWithPassword,
  NightjarError,
  type OAuthApp,
  personalToken,
  readAuthorizationCode,
  refreshTokens,
  revokeToken,
  Session,
  type TokenPair,
} from '../../sdk/index.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServerHere, type ServerUnderTest } from '../server-under-test.ts'

const person = { username: 'owner@example.com', password: 'correct horse' }

let server: ServerUnderTest
let app: OAuthApp
const trusted = getCACertificates('default')

before(async () => {
  server = await openServerHere()
  setDefaultCACertificates([...trusted, server.ca])
  const args = ['--user', person.username, '--name', 'Porch', '--redirect-uris', 'https://porch.example/back']
  const added = await server.command<{ client_id: string }>('app', 'add', ...args, '--public')
  app = { baseUrl: server.url, clientId: added.client_id }
})

after(async () => {
  setDefaultCACertificates(trusted)
  await server[Symbol.asyncDispose]()
})

const logIn = () => logInWithPassword(app, person)

/** A well-formed but invalid token, like an expired access token. */
const spoil = (pair: TokenPair): TokenPair => ({ ...pair, accessToken: `${pair.accessToken.slice(0, -1)}-` })

/** Counts the requests to the token endpoint. `lose` is the number of responses that get lost. */
function countRefreshes({ lose = 0 } = {}) {
  const sent: Headers[] = []
  const fetch: Fetch = async (input, init) => {
    const response = await globalThis.fetch(input, init)
    if (!String(input).endsWith('/oauth/token/')) return response
    sent.push(new Headers(init?.headers))
    if (sent.length > lose) return response
    await response.arrayBuffer()
    throw new TypeError('fetch failed')
  }
  return { fetch, sent }
}

const failure = async (work: Promise<unknown>): Promise<NightjarError> => {
  const error = await work.then(
    () => assert.fail('the call did not fail'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof NightjarError, String(error))
  return error
}

test('a personal access token allows everything, and errors contain the response of the server', async () => {
  const client = createClient({ baseUrl: `${server.url}/`, auth: personalToken(server.token) })
  assert.equal((await client.me.get()).email, person.username)
  const added = await client.cameras.create({ name: 'Porch', url: 'rtsp://127.0.0.1:9/porch' })
  assert.equal((await client.cameras.get(added.id, { max_width: 320 })).name, 'Porch')
  assert.equal((await client.cameras.update(added.id, { name: 'Door' })).name, 'Door')
  const recording = await client.cameras.enableRecording(added.id, { retention: 'P1D' })
  assert.equal(recording.retention, 'P1D')
  const start = new Date(Date.now() - 60_000)
  const timeline = await client.cameras.getTimeline(added.id, { start, end: new Date() })
  assert.deepEqual(timeline.segments, [])
  const early = await failure(client.cameras.createStream(added.id, { start }))
  assert.deepEqual([early.status, early.title], [404, 'not_found'])
  const invalid = await failure(client.cameras.get(added.id, { max_width: 0 }))
  assert.deepEqual([invalid.status, invalid.title], [400, 'invalid'])
  assert.deepEqual(Object.keys(invalid.errors as object), ['max_width'])
  assert.equal(await client.cameras.delete(added.id), undefined)
  const gone = await failure(client.cameras.get(added.id))
  assert.deepEqual([gone.status, gone.title, gone.detail, gone.message], [404, 'not_found', 'Not found.', 'Not found.'])
})

test('a 401 because of missing or bad credentials is reported clearly and not retried', async () => {
  for (const auth of [undefined, personalToken(`njp_${'x'.repeat(36)}`)]) {
    const { fetch, sent } = countRefreshes()
    const error = await failure(createClient({ baseUrl: server.url, auth, fetch }).me.get())
    assert.deepEqual([error.status, error.title], [401, 'not_authenticated'])
    assert.deepEqual(sent, [])
  }
})

test('a list is read to its end or stopped in the middle', async () => {
  const client = createClient({ baseUrl: server.url, auth: personalToken(server.token) })
  const ids: number[] = []
  for (const number of [1, 2, 3, 4, 5]) {
    ids.push((await client.cameras.create({ name: `C${number}`, url: `rtsp://127.0.0.1:9/${number}` })).id)
  }
  const found: number[] = []
  for await (const { id } of client.cameras.listAll({ limit: 2, max_width: 100 })) found.push(id)
  assert.deepEqual(found, ids)
  const { count, next, previous, results } = await client.cameras.list({ limit: 2, offset: 2 })
  assert.deepEqual([count, results.length, typeof next, typeof previous], [5, 2, 'string', 'string'])
  for await (const { id } of client.cameras.listAll({ limit: 2 })) if (id === ids[2]) break
  const controller = new AbortController()
  const all = client.cameras.listAll({ limit: 2 }, { signal: controller.signal })
  await all.next()
  await all.next()
  controller.abort(new Error('enough'))
  await assert.rejects(all.next(), /enough/)
  for (const id of ids) await client.cameras.delete(id)
})

test('concurrent calls with an expired token refresh it once, and the application gets the new pair before it is used', async () => {
  const { fetch, sent } = countRefreshes()
  const notified: (TokenPair | undefined)[] = []
  const first = await logIn()
  const onTokens = async (pair: TokenPair | undefined) => {
    await new Promise((resolve) => setTimeout(resolve, 20))
    notified.push(pair)
  }
  const session = new Session({ ...app, fetch, tokens: spoil(first), onTokens })
  const client = createClient({ baseUrl: server.url, auth: session, fetch })
  const answers = await Promise.all(Array.from({ length: 20 }, () => client.me.get()))
  assert.equal(answers.length, 20)
  assert.equal(sent.length, 1)
  assert.deepEqual(notified, [session.tokens])
  assert.notEqual(session.tokens!.refreshToken, first.refreshToken)
  assert.equal((await client.me.get()).email, person.username)
  assert.equal(sent.length, 1)
  await session.end()
})

test('a lost response to a refresh is requested again', async () => {
  const { fetch, sent } = countRefreshes({ lose: 1 })
  const session = new Session({ ...app, fetch, tokens: spoil(await logIn()) })
  const client = createClient({ baseUrl: server.url, auth: session })
  await client.me.get()
  assert.equal(sent.length, 2)
  const keys = sent.map((headers) => headers.get('idempotency-key'))
  assert.ok(keys[0])
  assert.equal(keys[0], keys[1])
})

test('a longer loss of responses does not end the session, and the next call gets the pair', async () => {
  const { fetch, sent } = countRefreshes({ lose: 3 })
  const session = new Session({ ...app, fetch, tokens: spoil(await logIn()) })
  const client = createClient({ baseUrl: server.url, auth: session })
  const error = await failure(client.me.get())
  assert.deepEqual([error.status, error.title], [0, 'network_error'])
  await client.me.get()
  assert.equal(sent.length, 4)
  assert.equal(new Set(sent.map((headers) => headers.get('idempotency-key'))).size, 1)
})

test('a rejected refresh ends the session with one clear error for all current and later calls', async () => {
  const { fetch, sent } = countRefreshes()
  const notified: unknown[] = []
  const tokens = await logIn()
  await revokeToken(app, tokens.accessToken)
  const session = new Session({ ...app, fetch, tokens, onTokens: (pair) => void notified.push(pair) })
  const client = createClient({ baseUrl: server.url, auth: session })
  const errors = await Promise.all(Array.from({ length: 10 }, () => failure(client.me.get())))
  errors.push(await failure(client.cameras.list()), await failure(session.refresh()))
  for (const { status, title } of errors) assert.deepEqual([status, title], [401, 'session_ended'])
  assert.equal((errors[0]!.cause as NightjarError).title, 'invalid_grant')
  assert.equal(sent.length, 1)
  assert.deepEqual(notified, [undefined])
  assert.equal(session.tokens, undefined)
})

test('a pair that could not be stored is reported to the waiting calls and still works', async () => {
  let isFull = true
  const onTokens = () => {
    if (isFull) throw new Error('no room to store tokens')
  }
  const session = new Session({ ...app, tokens: spoil(await logIn()), onTokens })
  const client = createClient({ baseUrl: server.url, auth: session })
  await assert.rejects(client.me.get(), /no room to store tokens/)
  isFull = false
  assert.equal((await client.me.get()).email, person.username)
})

test('two programs that share a stored session do not end it for each other', async () => {
  let stored: TokenPair | undefined = await logIn()
  const open = () =>
    new Session({
      ...app,
      tokens: stored!,
      onTokens: (pair) => void (stored = pair),
      loadTokens: () => stored,
    })
  const [one, other] = [open(), open()]
  await one.refresh()
  await createClient({ baseUrl: server.url, auth: other }).me.get()
  assert.deepEqual(other.tokens, one.tokens)
})

test('signing out revokes the grant on the server', async () => {
  const session = new Session({ ...app, tokens: await logIn() })
  const { accessToken, refreshToken } = session.tokens!
  await session.end()
  await session.end()
  assert.equal((await failure(refreshTokens(app, { refreshToken }))).title, 'invalid_grant')
  const { status } = await server.request('/v1/me/', { authorization: `Bearer ${accessToken}` })
  assert.equal(status, 401)
})

test('OAuth errors are reported by their standard names', async () => {
  const wrong = await failure(logInWithPassword(app, { ...person, password: 'wrong' }))
  assert.deepEqual([wrong.status, wrong.title, wrong.detail], [400, 'invalid_grant', 'Invalid credentials given.'])
  const unknown = await failure(logInWithPassword({ ...app, clientId: 'nobody' }, person))
  assert.deepEqual([unknown.status, unknown.title], [401, 'invalid_client'])
  const sent = { code: 'njac_x', redirectUri: 'https://porch.example/back', codeVerifier: 'x'.repeat(43) }
  assert.equal((await failure(exchangeCode(app, sent))).title, 'invalid_grant')
  assert.equal((await logInWithPassword(app, { ...person, scope: 'read' })).scope, 'read')
})

test('the authorization URL contains a challenge that the response must match', async () => {
  const request = { redirectUri: 'https://porch.example/back', scope: 'read write', uiLocales: 'de' }
  const { url, state, codeVerifier } = await createAuthorizeUrl(app, request)
  const { pathname, searchParams } = new URL(url)
  assert.equal(pathname, '/oauth/authorize/')
  assert.equal(searchParams.get('state'), state)
  assert.equal(searchParams.get('code_challenge_method'), 'S256')
  assert.equal(searchParams.get('ui_locales'), 'de')
  assert.match(codeVerifier, /^[\w-]{43}$/)
  const page = await server.request(url.slice(server.url.length), { authorization: null })
  assert.equal(page.status, 302) // to the sign-in page: nothing to complain about
  const back = (query: object) => `https://porch.example/back?${new URLSearchParams({ state, ...query })}`
  assert.equal(readAuthorizationCode(back({ code: 'c' }), { state }), 'c')
  const titleOf = (callback: string, issuer?: string) => {
    try {
      return readAuthorizationCode(callback, { state, issuer })
    } catch (error) {
      return (error as NightjarError).title
    }
  }
  assert.equal(titleOf(back({ state: 'other', code: 'c' })), 'sign_in_failed')
  assert.equal(titleOf(back({ code: 'c', iss: 'https://evil.example' }), server.url), 'sign_in_failed')
  assert.equal(titleOf(back({ code: 'c', iss: server.url }), server.url), 'c')
  assert.equal(titleOf(back({ error: 'access_denied' })), 'access_denied')
  assert.equal(titleOf(back({})), 'sign_in_failed')
})

test('owner and guest of a shared camera see its events as permitted', async () => {
  const guestAddress = 'guest@example.com'
  const names = ['--first-name', 'Gwen', '--last-name', 'Guest']
  await server.command('user', 'add', '--password', 'correct horse', '--email', guestAddress, ...names)
  const { token } = await server.command<{ token: string }>('token', 'create', '--user', guestAddress)
  const owner = createClient({ baseUrl: server.url, auth: personalToken(server.token) })
  const guest = createClient({ baseUrl: server.url, auth: personalToken(token) })
  const camera = await owner.cameras.create({ name: 'Yard', url: 'rtsp://127.0.0.1:9/yard' })

  const created = await owner.guests.create(camera.id, { email: guestAddress, permissions: { can_view_rec: true } })
  assert.deepEqual(created.permissions, { can_view_rec: true, share_notifications: false })
  const again = await failure(owner.guests.create(camera.id, { email: guestAddress }))
  assert.deepEqual([again.status, Object.keys(again.errors!)], [400, ['email']])
  const shared = await guest.sharedCameras.get(camera.id, { max_width: 320 })
  assert.equal(shared.owner.email, person.username)
  for await (const { id } of guest.sharedCameras.listAll()) assert.equal(id, camera.id)
  const off = await failure(guest.sharedCameras.getRecording(camera.id)) // recording is off
  assert.equal(off.status, 404)
  const changed = await owner.guests.update(camera.id, created.id, { permissions: { share_notifications: true } })
  assert.deepEqual(changed.permissions, { can_view_rec: true, share_notifications: true })
  const ids: number[] = []
  for await (const { id } of owner.guests.listAll(camera.id, { limit: 1 })) ids.push(id)
  assert.deepEqual(ids, [created.id])
  assert.equal(await owner.guests.delete(camera.id, created.id), undefined)
  assert.equal((await failure(guest.sharedCameras.get(camera.id))).title, 'not_found')

  const device = createClient({ baseUrl: server.url })
  const occurred_at = new Date('2026-01-02T03:04:05.600Z')
  const event = await device.events.create({
    hash: camera.event_api_hash,
    title: 'Rang',
    category: 'bell',
    occurred_at,
  })
  assert.deepEqual([event.camera, event.source, event.occurred_at], [camera.id, 'device', '2026-01-02T03:04:05Z'])
  await owner.events.create({ camera: camera.id, title: 'Opened', data: { by: 'hand' } })
  const titles: (string | null)[] = []
  for await (const { title } of owner.events.listAllOfCamera(camera.id, { limit: 1 })) titles.push(title)
  assert.deepEqual(titles, ['Opened', 'Rang'])
  const early = await owner.events.list({ end: new Date('2026-01-03T00:00:00Z') })
  assert.deepEqual(
    early.results.map(({ id }) => id),
    [event.id],
  )
  assert.equal((await failure(device.events.create({ hash: 'nobodys' }))).status, 401)
  const { event_api_hash } = await owner.cameras.rotateEventHash(camera.id)
  assert.notEqual(event_api_hash, camera.event_api_hash)
})

test('a recorded stream is created, read, paused and played', async () => {
  await using source = await openFakeCamera({
    streams: [{ name: 'yard', scene: 'yard', width: 320, height: 180, framesPerSecond: 10, gopFrames: 10 }],
  })
  const client = createClient({ baseUrl: server.url, auth: personalToken(server.token) })
  const { id } = await client.cameras.create({ name: 'Film', url: source.url('yard') })
  await client.cameras.enableRecording(id, { retention: 'P1D' })
  const start = await eventually('footage', 30_000, async () => {
    const { recording_start, recording_end } = await client.cameras.getRecording(id)
    return recording_start !== null && recording_start !== recording_end && recording_start
  })
  const camera = await client.cameras.get(id, { refresh_rate: 0.5 })
  assert.match(findStreamUrl(camera, 'hls') ?? '', /\.m3u8\?/)
  const stream = await client.cameras.createStream(id, { start: new Date(start) })
  const playlist = await (await fetch(stream.url)).text()
  assert.match(playlist, /^#EXTM3U/)
  assert.equal((await client.streams.getInfo(stream)).state, 'playing')
  await client.streams.pause(stream)
  assert.equal((await client.streams.getInfo(stream)).state, 'paused')
  await client.streams.play(stream)
  await client.streams.setSpeed(stream, 1)
  assert.deepEqual(await client.streams.getInfo(stream).then(({ state, speed }) => [state, speed]), ['playing', 1])
  const unknown = { ...stream, stream_info: stream.stream_info.replace(/\w+\/$/, `${'0'.repeat(32)}/`) }
  assert.equal((await failure(client.streams.getInfo(unknown))).status, 404)
  const backwards = await failure(client.streams.setSpeed(stream, -1))
  assert.deepEqual([backwards.status, backwards.title], [400, 'invalid'])
})

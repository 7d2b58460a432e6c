// Requests that are answered before the routes are asked, over real sockets: everything is as if a route had answered.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import https from 'node:https'
import { type TestContext, test } from 'node:test'
import { noFootage, openTemporaryApi } from '../../test/support/api/temporary-api.ts'
import { TestClock } from '../../test/support/test-clock.ts'
import type { Caller } from '../auth/caller.ts'
import { RateLimits } from '../auth/guard/rate-limits.ts'
import { expandScopes } from '../model/access.ts'
import type { ApiDeps } from './deps.ts'
import { defaultTimeouts } from './transport/timeouts.ts'

async function listen(t: TestContext, parts: Partial<ApiDeps> = {}) {
  const temporary = await openTemporaryApi(t, parts)
  const port = await temporary.api.listen({ host: '127.0.0.1', port: 0 })
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const { cert: ca } = temporary.identity
  /** Over one connection of HTTP/1.1. */
  const get = async (path: string, headers: Record<string, string>) => {
    const request = https.get({ host: '127.0.0.1', servername: 'localhost', port, path, headers, agent, ca })
    const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage]
    const body = Buffer.concat(await response.toArray()).toString()
    const { date: _, ...own } = response.headers
    return { status: response.statusCode, headers: own, body }
  }
  return { ...temporary, port, ca, get }
}

test("a cached response equals the route's response byte for byte, in HTTP/1.1 and HTTP/2", async (t) => {
  const { get, port, ca, store, addUser, addCamera } = await listen(t)
  const { userId, authorization } = await addUser('ada@example.com')
  const cameraId = await addCamera(userId, 'Tür 門 🚪')
  const first = await get('/v1/cameras/', { authorization })
  assert.equal(JSON.parse(first.body).results[0].name, 'Tür 門 🚪')
  assert.deepEqual(await get('/v1/cameras/', { authorization }), first)
  const session = http2.connect(`https://127.0.0.1:${port}`, { ca })
  const stream = session.request({ ':path': '/v1/cameras/', authorization })
  const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders]
  assert.equal(Buffer.concat(await stream.toArray()).toString(), first.body)
  assert.equal(headers['content-length'], String(Buffer.byteLength(first.body)))
  session.close()
  await store.cameras.update(cameraId, { name: 'Garage' })
  assert.equal(JSON.parse((await get('/v1/cameras/', { authorization })).body).results[0].name, 'Garage')
})

test('a cached response is refused to callers whom the route would refuse', async (t) => {
  const clock = new TestClock()
  const limits = new RateLimits({ apiPerMinute: 4, tokenPerMinute: 1, clock })
  const { get, store, addUser } = await listen(t, { limits, clock })
  const { tokenId, authorization } = await addUser('ada@example.com')
  const me = async (headers: Record<string, string>) => {
    const answer = await get('/v1/me/', headers)
    return [answer.status, answer.headers.ratelimit, answer.headers['retry-after']]
  }
  assert.deepEqual(await me({ authorization }), [200, '"default";r=3;t=15', undefined])
  assert.deepEqual(await me({ authorization }), [200, '"default";r=2;t=30', undefined])
  assert.deepEqual((await me({ authorization, host: 'evil.example' }))[0], 421)
  assert.deepEqual(await me({ authorization }), [200, '"default";r=1;t=45', undefined])
  assert.deepEqual(await me({ authorization }), [200, '"default";r=0;t=60', undefined])
  assert.deepEqual(await me({ authorization }), [429, '"default";r=0;t=60', '15'])
  clock.skip(15_000)
  assert.deepEqual(await me({ authorization }), [200, '"default";r=0;t=60', undefined])
  clock.skip(60_000)
  assert.equal((await me({ authorization: `${authorization}, ${authorization}` }))[0], 401)
  assert.equal((await me({}))[0], 401)
  await store.tokens.revoke(tokenId)
  assert.equal((await me({ authorization }))[0], 401)
})

test('cached responses respect the scopes of each token of a grant', async (t) => {
  const caller: Caller = {
    userId: 1,
    credentialsVersion: 1,
    scopes: expandScopes(['user_access']),
    credential: { kind: 'grant', id: 7 },
  }
  const callers: Record<string, Caller> = { 'Bearer all': caller, 'Bearer none': { ...caller, scopes: new Set() } }
  const find = (authorization: string | undefined) => callers[authorization!]!
  const { get, addUser } = await listen(t, {
    authenticator: { authenticate: find, findKnown: find, isLive: () => true },
  })
  await addUser('ada@example.com')
  const statusOf = async (authorization: string) => (await get('/v1/cameras/', { authorization })).status
  assert.equal(await statusOf('Bearer all'), 200)
  assert.equal(await statusOf('Bearer all'), 200)
  assert.equal(await statusOf('Bearer none'), 403)
})

test('large cached responses count while they are sent', async (t) => {
  const any = { max: 100, maxOfOne: 100 }
  const clientLimits = { connections: any, streams: any, unsentBytes: { max: 10_000_000, maxOfOne: 90_000 } }
  const { get, addUser, addCamera } = await listen(t, { clientLimits })
  const { userId, authorization } = await addUser('ada@example.com')
  for (let i = 0; i < 100; i++) await addCamera(userId, `Door ${i}`)
  for (let turn = 0; turn < 3; turn++) {
    const whole = await get('/v1/cameras/?limit=80', { authorization })
    assert.equal(whole.status, 200)
    assert.ok(whole.body.length > 64 * 1024 && whole.body.length < 90_000, `${whole.body.length}`)
    assert.equal(JSON.parse(whole.body).results.length, 80)
    const refused = await get('/v1/cameras/?limit=100', { authorization })
    assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '5'])
  }
})

test('an answer that never comes is refused in the end, also after others from memory', async (t) => {
  const recorded = { ...noFootage, timeline: () => new Promise<never>(() => {}) }
  const timeouts = { ...defaultTimeouts, stallMs: 300 }
  const { get, store, addUser, addCamera } = await listen(t, { recorded, timeouts })
  const { userId, authorization } = await addUser('ada@example.com')
  const cameraId = await addCamera(userId)
  await store.recordings.enable(cameraId, { retention: 'P7D', maxBytes: null })
  for (let i = 0; i < 3; i++) assert.equal((await get('/v1/me/', { authorization })).status, 200)
  const path = `/v1/cameras/${cameraId}/recording/timeline/?start=2026-05-01T00:00:00Z&end=2026-05-02T00:00:00Z`
  const { status, headers } = await get(path, { authorization })
  assert.deepEqual([status, headers['retry-after']], [503, '5'])
})

// Rate limits, as clients see them.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { noFootage, openTemporaryApi } from '../../test/support/api/temporary-api.ts'
import { TestClock } from '../../test/support/test-clock.ts'
import { RateLimits } from '../auth/guard/rate-limits.ts'
import { AppError } from '../base/error.ts'
import type { Recorded } from './deps.ts'

async function openLimited(t: TestContext, apiPerMinute: number) {
  const clock = new TestClock()
  const limits = new RateLimits({ apiPerMinute, tokenPerMinute: 2, clock })
  const temporary = await openTemporaryApi(t, { limits, clock })
  const send = (url: string, authorization?: string, remoteAddress = '192.0.2.1', method = 'GET') =>
    temporary.api.server.inject({
      method: method as 'GET',
      url,
      remoteAddress,
      headers: authorization === undefined ? {} : { authorization },
    })
  const says = (response: Awaited<ReturnType<typeof send>>) => [
    response.statusCode,
    response.headers['ratelimit-policy'],
    response.headers.ratelimit,
  ]
  return { ...temporary, clock, send, says }
}

test('T32: each answer tells what is left; beyond it 429 says when to come back', async (t) => {
  const { send, says, clock, addUser } = await openLimited(t, 10)
  const { authorization } = await addUser('ada@example.com')
  assert.deepEqual(says(await send('/v1/me/', authorization)), [200, '"default";q=10;w=60', '"default";r=9;t=6'])
  assert.deepEqual(says(await send('/v1/cameras/1/', authorization)), [
    404,
    '"default";q=10;w=60',
    '"default";r=8;t=12',
  ])
  assert.deepEqual(says(await send('/v1/cameras/?limit=x', authorization)), [
    400,
    '"default";q=10;w=60',
    '"default";r=7;t=18',
  ])
  assert.deepEqual(says(await send('/v1/me/', authorization, '192.0.2.1', 'DELETE')), [
    405,
    '"default";q=10;w=60',
    '"default";r=6;t=24',
  ])
  for (let left = 5; left >= 0; left--) assert.equal((await send('/v1/me/', authorization)).statusCode, 200)
  const refused = await send('/v1/me/', authorization)
  assert.deepEqual(says(refused), [429, '"default";q=10;w=60', '"default";r=0;t=60'])
  assert.equal(refused.headers['retry-after'], '6')
  assert.equal(refused.headers['content-type'], 'application/json')
  assert.equal(refused.headers['access-control-allow-origin'], '*')
  assert.equal(
    refused.body,
    '{"status":429,"title":"rate_limited","detail":"Request was throttled. Expected available in 6 seconds."}',
  )
  assert.equal((await send('/v1/cameras/', authorization)).statusCode, 429)
  clock.skip(6000)
  assert.equal((await send('/v1/me/', authorization)).statusCode, 200)
  assert.equal((await send('/v1/me/', authorization)).statusCode, 429)
})

test('T32: another token of the same user shares the limit, another user does not, health is not counted', async (t) => {
  const { send, says, store, addUser } = await openLimited(t, 2)
  const [ada, bob] = [await addUser('ada@example.com'), await addUser('bob@example.com')]
  assert.deepEqual(says(await send('/v1/me/', ada.authorization))[2], '"default";r=1;t=30')
  await store.users.update(ada.userId, { lastName: 'Byron' })
  assert.deepEqual(says(await send('/v1/me/', ada.authorization))[2], '"default";r=0;t=60')
  assert.equal((await send('/v1/me/', ada.authorization)).statusCode, 429)
  assert.equal((await send('/v1/me/', bob.authorization)).statusCode, 200)
  for (let i = 0; i < 5; i++) assert.deepEqual(says(await send('/healthz')), [200, undefined, undefined])
})

test('T32: without good credentials the address is counted, whatever it guesses; who is known still gets in', async (t) => {
  const { send, says, addUser } = await openLimited(t, 5)
  const { authorization } = await addUser('ada@example.com')
  assert.equal((await send('/v1/me/', authorization)).statusCode, 200)
  const guesses = [undefined, 'Bearer nonsense', `PersonalAccessToken njp_${'0'.repeat(36)}`, 'Basic x', 'Bearer y']
  for (const [i, guess] of guesses.entries()) {
    assert.deepEqual(says(await send('/v1/me/', guess)), [
      401,
      '"default";q=5;w=60',
      `"default";r=${4 - i};t=${12 * (i + 1)}`,
    ])
  }
  for (const guess of guesses) assert.equal((await send('/v1/cameras/', guess)).statusCode, 429)
  assert.equal((await send('/v1/me/', undefined, '192.0.2.1', 'DELETE')).statusCode, 429)
  assert.equal((await send('/v1/me/', authorization)).statusCode, 200)
  assert.equal((await send('/v1/me/', undefined, '192.0.2.2')).statusCode, 401)
  const together = await Promise.all(Array.from({ length: 50 }, () => send('/v1/me/', 'Bearer z', '192.0.2.3')))
  assert.equal(together.filter(({ statusCode }) => statusCode === 401).length, 5)
})

test('valid credentials never count against their address', async (t) => {
  const { send, store, addUser } = await openLimited(t, 5)
  const users = await Promise.all(Array.from({ length: 20 }, (_, i) => addUser(`user${i}@example.com`)))
  for (const { authorization } of users) {
    await store.users.update(users[0]!.userId, { lastName: authorization })
    assert.equal((await send('/v1/me/', authorization)).statusCode, 200)
  }
})

test('T32: the token endpoint has a limit of its own, by address', async (t) => {
  const { send, says } = await openLimited(t, 1)
  assert.deepEqual(says(await send('/oauth/token/', undefined, '192.0.2.1', 'POST')).slice(1), [
    '"default";q=2;w=60',
    '"default";r=1;t=30',
  ])
  await send('/oauth/token-revoke/', undefined, '192.0.2.1', 'POST')
  const refused = await send('/oauth/token', undefined, '192.0.2.1', 'POST')
  assert.deepEqual(says(refused), [429, '"default";q=2;w=60', '"default";r=0;t=60'])
  assert.equal(refused.headers['retry-after'], '30')
  assert.equal(refused.headers['content-type'], 'application/json')
  assert.equal(typeof refused.json().error, 'string')
  assert.notEqual((await send('/oauth/token/', undefined, '192.0.2.2', 'POST')).statusCode, 429)
})

test('guessing ids of recorded streams is limited without blocking viewers', async (t) => {
  const known = '0'.repeat(32)
  let asked = 0
  const recorded: Recorded = {
    ...noFootage,
    isActive: (id) => id === known,
    checkAccess: async () => {
      asked++
      throw new AppError('not_found', 'no such stream')
    },
    playlist: async () => '#EXTM3U\n',
  }
  const clock = new TestClock()
  const limits = new RateLimits({ apiPerMinute: 5, tokenPerMinute: 2, clock })
  const { api } = await openTemporaryApi(t, { limits, clock, recorded })
  const statusOf = async (id: string, remoteAddress = '192.0.2.1') => {
    const url = `/recording/streams/${id}/hls/playlist.m3u8`
    return (await api.server.inject({ url, remoteAddress })).statusCode
  }
  const guess = (i: number) => String(i).padStart(32, '1')
  for (let i = 0; i < 5; i++) assert.equal(await statusOf(guess(i)), 404)
  for (let i = 5; i < 20; i++) assert.equal(await statusOf(guess(i)), 429)
  assert.equal(asked, 5)
  assert.equal(await statusOf(known), 200)
  assert.equal(await statusOf(guess(1), '192.0.2.2'), 404)
})

test('large pending responses to one address are limited, small ones are not', async (t) => {
  const clientLimits = {
    connections: { max: 100, maxOfOne: 100 },
    streams: { max: 100, maxOfOne: 100 },
    unsentBytes: { max: 10_000_000, maxOfOne: 60_000 },
  }
  const { api, store, addUser } = await openTemporaryApi(t, { clientLimits })
  const { userId, authorization } = await addUser('ada@example.com')
  const source = { url: 'rtsp://camera.example/stream', username: null, password: null }
  for (let i = 0; i < 100; i++)
    await store.cameras.insert({ ownerId: userId, name: `Door ${i}`, type: 'h264', ...source })
  const get = (url: string) => api.server.inject({ url, headers: { authorization } })
  const refused = await get('/v1/cameras/?limit=100')
  assert.deepEqual([refused.statusCode, refused.headers['retry-after']], [503, '5'])
  assert.equal((await get('/v1/cameras/?limit=10')).statusCode, 200)
})

// Events over HTTP: who may report and read what, and the validation of reports.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openTemporaryApi, publicUrl } from '../../test/support/api/temporary-api.ts'
import { addKeeper } from '../../test/support/store/temporary-store.ts'
import { TestClock } from '../../test/support/test-clock.ts'
import { RateLimits } from '../auth/guard/rate-limits.ts'

const startMs = Date.UTC(2030, 0, 1)
const problem401 = '{"status":401,"title":"not_authenticated","detail":"Authentication credentials were not provided."}'

type Sent = {
  authorization?: string | undefined
  body?: unknown
  type?: string
  ip?: string
  query?: string
}

async function openClient(t: TestContext, apiPerMinute = 0) {
  const clock = new TestClock(startMs)
  const limits = new RateLimits({ apiPerMinute, tokenPerMinute: 0, clock })
  const temporary = await openTemporaryApi(t, { clock, limits })
  const owner = await temporary.addUser('owner@example.com')
  const cameraId = await temporary.addCamera(owner.userId)
  const { eventApiHash: hash } = await temporary.store.cameras.get(cameraId)
  const post = ({ authorization, body, type = 'application/json', ip = '192.0.2.1', query = '' }: Sent) =>
    temporary.api.server.inject({
      method: 'POST',
      url: `/v1/events/${query}`,
      remoteAddress: ip,
      headers: { ...(authorization !== undefined && { authorization }), 'content-type': type },
      payload: typeof body === 'string' || body instanceof Buffer ? body : JSON.stringify(body),
    })
  const report = (body: unknown) => post({ authorization: owner.authorization, body })
  const get = (url: string, authorization = owner.authorization) =>
    temporary.api.server.inject({ url, headers: { authorization } })
  const count = () => temporary.store.events.count({ cameraId }, {})
  return { ...temporary, clock, owner, cameraId, hash, post, report, get, count }
}

test('an event is returned as reported, with all keys in order', async (t) => {
  const { report, get, cameraId, clock } = await openClient(t)
  clock.skip(5250)
  const full = {
    title: 'Türe 😀',
    category: 'door_1',
    data: { a: [1, 'ü', null] },
    occurred_at: '2029-12-31T23:30:00.9+01:00',
  }
  const created = await report({ camera: cameraId, ...full, source: 'system', id: 5, unknown: true })
  assert.equal(created.statusCode, 201)
  const { id } = created.json()
  assert.equal(
    created.body,
    JSON.stringify({
      ...{ id, camera: cameraId, site: null, title: 'Türe 😀', category: 'door_1', source: 'api' },
      occurred_at: '2029-12-31T22:30:00Z',
      received_at: '2030-01-01T00:00:05Z',
      data: { a: [1, 'ü', null] },
    }),
  )
  const least = (await report({ camera: String(cameraId) })).json()
  assert.deepEqual(least, {
    ...{ id: least.id, camera: cameraId, site: null, title: null, category: 'generic', source: 'api' },
    ...{ occurred_at: '2030-01-01T00:00:05Z', received_at: '2030-01-01T00:00:05Z', data: null },
  })
  const page = { count: 2, next: null, previous: null, results: [least, created.json()] }
  assert.equal((await get('/v1/events/')).body, JSON.stringify(page))
  assert.equal((await get(`/v1/events/${cameraId}`)).body, JSON.stringify(page))
  for (const data of [0, false, '', [], {}, 'text', -1.5]) {
    assert.deepEqual((await report({ camera: cameraId, data })).json().data, data)
  }
})

test('T20: whoever asks: owner, another scope, another user, a guest, a disabled one, nobody', async (t) => {
  const { get, post, report, addUser, addCamera, store, cameraId, owner, count } = await openClient(t)
  await report({ camera: cameraId })
  const stranger = await addUser('stranger@example.com')
  const strangersCamera = await addCamera(stranger.userId)
  const guest = await addUser('guest@example.com')
  const everything = { canViewRecordings: true, sharesNotifications: true }
  await store.guests.insert({ cameraId, email: 'guest@example.com', ...everything })
  const disabled = await addUser('disabled@example.com')
  const disabledCamera = await addCamera(disabled.userId)
  await store.accounts.change(disabled.userId, { isDisabled: true })

  for (const { authorization } of [stranger, guest]) {
    assert.deepEqual((await get('/v1/events/', authorization)).json().results, [])
  }
  const missing = await get('/v1/events/999999/')
  for (const [id, authorization] of [
    [cameraId, stranger.authorization],
    [cameraId, guest.authorization],
    [strangersCamera, undefined],
    [disabledCamera, undefined],
  ] as const) {
    const refused = await get(`/v1/events/${id}/?limit=x`, authorization)
    assert.deepEqual([refused.statusCode, refused.body], [404, missing.body])
    const unwritten = await post({
      authorization: authorization ?? owner.authorization,
      body: { camera: id, title: 5 },
    })
    assert.deepEqual([unwritten.statusCode, unwritten.body], [404, missing.body])
  }
  for (const camera of [strangersCamera, disabledCamera, 999_999, 0, -1, Number.MAX_SAFE_INTEGER]) {
    const refused = await report({ camera, category: 'NOT VALID' })
    assert.deepEqual([refused.statusCode, refused.body], [404, missing.body], String(camera))
  }
  for (const url of ['/v1/events/', `/v1/events/${disabledCamera}/`]) {
    assert.equal((await get(url, disabled.authorization)).statusCode, 401)
    assert.equal((await get(url, '')).statusCode, 401)
  }
  assert.equal(
    (await post({ authorization: disabled.authorization, body: { camera: disabledCamera } })).statusCode,
    401,
  )
  for (const id of ['abc', '1.5', '-1', '99999999999999999999', 'NaN', '%00', '٣']) {
    assert.equal((await get(`/v1/events/${id}/`)).statusCode, 404, id)
  }

  const scopes: [string[], number, number][] = [
    [['user_access'], 200, 201],
    [['read', 'write'], 200, 201],
    [['read'], 200, 403],
    [['write'], 403, 403],
    [['event_access'], 200, 403],
    [['event_manage'], 403, 201],
    [['camera_access', 'camera_manage'], 403, 403],
  ]
  for (const [index, [names, read, write]] of scopes.entries()) {
    const { authorization, userId } = await addUser(`scope${index}@example.com`, names)
    const camera = await addCamera(userId)
    assert.equal((await get('/v1/events/', authorization)).statusCode, read, `${names} reads`)
    assert.equal((await get(`/v1/events/${camera}/`, authorization)).statusCode, read, `${names} reads one`)
    const written = await post({ authorization, body: { camera } })
    assert.equal(written.statusCode, write, `${names} reports`)
    if (write === 403) assert.match(String(written.headers['www-authenticate']), /scope="read write"/)
  }
  assert.equal(await count(), 1)
})

test('a device can report events with only a hash, and nothing else', async (t) => {
  const { post, hash, cameraId, get, store, owner, addUser, count } = await openClient(t)
  const created = await post({ body: { hash, title: 'Bell', category: 'bell', data: { a: 1 }, camera: 999 } })
  assert.equal(created.statusCode, 201)
  assert.deepEqual(
    (({ camera, source, title, category, data }) => ({ camera, source, title, category, data }))(created.json()),
    { camera: cameraId, source: 'device', title: 'Bell', category: 'bell', data: null },
  )
  assert.deepEqual((await get('/v1/events/')).json().results, [created.json()])
  // A caller with the hash is told what is wrong, and nothing is stored.
  for (const [body, status] of [
    [{ hash, category: 'A' }, 400],
    [{ hash, occurred_at: '2030-01-02T00:00:01Z' }, 400],
    [{ hash, title: 'x'.repeat(201) }, 400],
  ] as const) {
    assert.equal((await post({ body })).statusCode, status)
  }
  assert.equal((await post({ body: JSON.stringify({ hash }), type: 'text/plain' })).statusCode, 415)
  assert.equal(await count(), 1)

  const nobody: [string, unknown][] = [
    ['no hash', {}],
    ['a camera alone', { camera: cameraId }],
    ['unknown', { hash: '0'.repeat(32) }],
    ['part of it', { hash: hash.slice(0, 31) }],
    ['more than it', { hash: `${hash}0` }],
    ['in capitals', { hash: hash.toUpperCase().replace(/^\d+$/, 'A') }],
    ['with a space', { hash: ` ${hash}` }],
    ['null', { hash: null }],
    ['a number', { hash: 5 }],
    ['a list', { hash: [hash] }],
    ['an object', { hash: { hash } }],
    ['NUL', { hash: `${hash}\0` }],
    ['a lone surrogate', '{"hash":"\\ud800"}'],
    ['inherited', '{"__proto__":{"hash":"x"}}'],
    ['huge', { hash: 'a'.repeat(60_000) }],
    ['no JSON', '{'],
    ['no object', JSON.stringify([hash])],
    ['only text', JSON.stringify(hash)],
    ['nothing', ''],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['too deep', '['.repeat(100)],
  ]
  for (const [what, body] of nobody) {
    const refused = await post({ body })
    assert.deepEqual([refused.statusCode, refused.body], [401, problem401], what)
    assert.equal(refused.headers['www-authenticate'], 'Bearer realm="api"', what)
  }
  assert.equal((await post({ body: {}, query: `?hash=${hash}` })).statusCode, 401)
  assert.equal((await post({ body: { hash, title: 'x'.repeat(70_000) } })).statusCode, 413)
  // Credentials that are sent must be valid, even with a valid hash.
  for (const authorization of ['', 'Bearer nonsense', 'Basic eDp5']) {
    assert.equal((await post({ authorization, body: { hash } })).statusCode, 401, authorization)
  }
  const reader = await addUser('reader@example.com', ['read'])
  assert.equal((await post({ authorization: reader.authorization, body: { hash } })).statusCode, 403)
  assert.equal(await count(), 1)

  // A known caller may send a hash instead of a camera id; the camera need not be their own.
  const stranger = await addUser('stranger@example.com')
  const lent = await post({ authorization: stranger.authorization, body: { hash, data: 1 } })
  assert.deepEqual([lent.statusCode, lent.json().source, lent.json().data], [201, 'device', null])
  const unknown = await post({ authorization: owner.authorization, body: { hash: '0'.repeat(32) } })
  assert.deepEqual([unknown.statusCode, Object.keys(unknown.json().errors)], [400, ['hash']])
  const neither = await post({ authorization: owner.authorization, body: { title: 5 } })
  assert.deepEqual([neither.statusCode, Object.keys(neither.json().errors)], [400, ['title']])
  assert.deepEqual(Object.keys((await post({ authorization: owner.authorization, body: {} })).json().errors), [
    'camera',
  ])
  const both = await post({ authorization: owner.authorization, body: { camera: cameraId, hash: '0'.repeat(32) } })
  assert.deepEqual([both.statusCode, both.json().source], [201, 'api'])
  assert.equal(await count(), 3)

  await addKeeper(store)
  await store.accounts.change(owner.userId, { isDisabled: true })
  assert.equal((await post({ body: { hash } })).statusCode, 401)
})

test('a replaced hash is no longer accepted', async (t) => {
  const { api, post, hash, owner, cameraId, addUser, store } = await openClient(t)
  const rotate = (id: number, authorization?: string) =>
    api.server.inject({
      method: 'POST',
      url: `/v1/cameras/${id}/event-hash/`,
      headers: authorization === undefined ? {} : { authorization },
    })
  assert.equal((await post({ body: { hash } })).statusCode, 201)
  const stranger = await addUser('stranger@example.com')
  assert.equal((await rotate(cameraId, stranger.authorization)).statusCode, 404)
  assert.equal((await rotate(cameraId, (await addUser('r@x.example', ['read'])).authorization)).statusCode, 403)
  assert.equal((await rotate(cameraId)).statusCode, 401)
  const rotated = await rotate(cameraId, owner.authorization)
  assert.equal(rotated.statusCode, 200)
  const { event_api_hash: fresh } = rotated.json()
  assert.notEqual(fresh, hash)
  assert.equal((await post({ body: { hash } })).statusCode, 401)
  assert.equal((await post({ body: { hash: fresh } })).statusCode, 201)
  assert.ok(
    (await store.audit.list(owner.userId, { limit: 9, offset: 0 })).some(
      ({ event }) => event === 'camera.hash_replaced',
    ),
  )
})

test('10 requests per minute and hash are allowed, whether valid or not, then 429 with headers', async (t) => {
  const { post, hash, clock, addCamera, owner, store, count } = await openClient(t, 1000)
  const says = ({ statusCode, headers }: Awaited<ReturnType<typeof post>>) => [
    statusCode,
    headers['ratelimit-policy'],
    headers.ratelimit,
  ]
  assert.deepEqual(says(await post({ body: { hash } })), [201, '"default";q=10;w=60', '"default";r=9;t=6'])
  for (let i = 0; i < 8; i++) await post({ body: { hash, category: i % 2 ? 'ok' : '!' }, ip: `192.0.2.${i}` })
  assert.deepEqual(says(await post({ authorization: owner.authorization, body: { hash } })), [
    201,
    '"default";q=10;w=60',
    '"default";r=0;t=60',
  ])
  const written = await count()
  for (const authorization of [undefined, owner.authorization]) {
    const refused = await post({ authorization, body: { hash } })
    assert.deepEqual(says(refused), [429, '"default";q=10;w=60', '"default";r=0;t=60'])
    assert.equal(refused.headers['retry-after'], '6')
    assert.equal(refused.json().title, 'rate_limited')
  }
  assert.equal(await count(), written)
  const { eventApiHash: other } = await store.cameras.get(await addCamera(owner.userId))
  assert.equal((await post({ body: { hash: other } })).statusCode, 201)
  clock.skip(6000)
  assert.equal((await post({ body: { hash } })).statusCode, 201)
  assert.equal((await post({ body: { hash } })).statusCode, 429)
})

test('guessed hashes count against their address; known devices are still accepted', async (t) => {
  const { post, hash } = await openClient(t, 5)
  assert.equal((await post({ body: { hash } })).statusCode, 201)
  const guess = (i: number, ip = '192.0.2.1') => post({ body: { hash: i.toString(16).padStart(32, '0') }, ip })
  for (let i = 0; i < 5; i++) {
    const refused = await guess(i)
    assert.deepEqual([refused.statusCode, refused.headers.ratelimit], [401, `"default";r=${4 - i};t=${12 * (i + 1)}`])
  }
  assert.equal((await guess(6)).statusCode, 429)
  assert.equal((await post({ body: {} })).statusCode, 429)
  assert.equal((await post({ body: { hash } })).statusCode, 201)
  const together = await Promise.all(Array.from({ length: 30 }, (_, i) => guess(i, '192.0.2.9')))
  assert.equal(together.filter(({ statusCode }) => statusCode === 401).length, 5)
})

test('errors of a report are listed by field, and nothing is stored', async (t) => {
  const { report, cameraId, count } = await openClient(t)
  const bad: [string, unknown[]][] = [
    ['camera', [null, 1.5, true, 'abc', '', [], {}, 'NaN', '1e3']],
    ['title', [5, true, [], {}, 'x'.repeat(201), '😀'.repeat(201), 'a\0b']],
    ['category', [null, 5, '', 'A', 'a b', 'a-b', 'ä', 'x'.repeat(65), 'a\n', 'a\0', '😀', [], {}]],
    [
      'occurred_at',
      [null, 0, '', 'now', '2030-13-01T00:00:00Z', '2030-01-03T00:00:00Z', '9999-12-31T23:59:59Z', [], '2030-01-01'],
    ],
    ['data', ['x'.repeat(4095), 'ü'.repeat(2048), JSON.parse('['.repeat(17) + ']'.repeat(17)), 'a\0', { 'a\0': 1 }]],
  ]
  for (const [field, values] of bad) {
    for (const value of values) {
      const refused = await report({ camera: cameraId, [field]: value })
      assert.equal(refused.statusCode, 400, `${field}: ${JSON.stringify(value).slice(0, 40)}`)
      assert.deepEqual(Object.keys(refused.json().errors), [field])
      assert.match(refused.json().detail, new RegExp(`^${field}: `))
    }
  }
  const raw: [string, string][] = [
    ['{"camera":ID,"title":"\\ud800"}', 'title'],
    ['{"camera":ID,"data":"\\udfff"}', 'data'],
    ['{"camera":ID,"data":{"\\ud800":1}}', 'data'],
    ['{"camera":ID,"data":1e400}', 'data'],
    ['{"camera":ID,"data":[-1e999]}', 'data'],
    ['{"camera":1e400}', 'camera'],
  ]
  for (const [text, field] of raw) {
    const refused = await report(text.replace('ID', String(cameraId)))
    assert.deepEqual([refused.statusCode, Object.keys(refused.json().errors ?? {})], [400, [field]], text)
  }
  const all = await report({ camera: 'x', title: 5, category: '!', occurred_at: 'never' })
  assert.deepEqual(Object.keys(all.json().errors), ['camera', 'title', 'category', 'occurred_at'])
  for (const text of ['{', 'NaN', '{"camera":NaN}', '{"camera":1,}', '\u0000']) {
    assert.deepEqual([(await report(text)).statusCode, (await report(text)).json().title], [400, 'parse_error'], text)
  }
  for (const text of ['[]', 'null', '"x"', '5']) assert.equal((await report(text)).statusCode, 400, text)
  assert.equal(await count(), 0)

  // Valid: the last of two equal keys, the limits of what is allowed, and times in all formats.
  const fine: string[] = [
    `{"camera":5555,"camera":${cameraId}}`,
    JSON.stringify({ camera: cameraId, title: '😀'.repeat(200), category: '0'.repeat(64), data: 'x'.repeat(4094) }),
    JSON.stringify({ camera: cameraId, title: '', data: JSON.parse('['.repeat(16) + ']'.repeat(16)) }),
    JSON.stringify({ camera: cameraId, title: null, data: null }),
    ...[
      '2030-01-02T00:00:00Z',
      '1970-01-01T00:00Z',
      '0001-01-01T00:00:00Z',
      '2029-12-31T10:00:00 02:00',
      '2029-12-31T10:00',
    ].map((occurred_at) => JSON.stringify({ camera: cameraId, occurred_at })),
  ]
  for (const text of fine) assert.equal((await report(text)).statusCode, 201, text.slice(0, 80))
  assert.equal(await count(), fine.length)
})

test('lists are newest first, and page links keep the rest of the query', async (t) => {
  const { report, get, cameraId, addCamera, owner, clock } = await openClient(t)
  const other = await addCamera(owner.userId)
  for (let i = 0; i < 5; i++) {
    clock.skip(1000)
    await report({ camera: i === 3 ? other : cameraId, title: `${i}`, occurred_at: `2029-12-31T00:0${i % 4}:00Z` })
  }
  const titles = async (url: string) =>
    (await get(url))
      .json()
      .results.map(({ title }: { title: string }) => title)
      .join('')
  assert.equal(await titles('/v1/events/'), '32140')
  assert.equal(await titles(`/v1/events/${cameraId}/`), '2140')
  assert.equal(await titles(`/v1/events/${other}/`), '3')
  const query = 'start=2029-12-31T00:00:00Z&end=2029-12-31T00:03:00Z'
  assert.equal(await titles(`/v1/events/?${query}`), '2140')
  assert.equal(await titles('/v1/events/?start=2029-12-31T00:01:00Z'), '321')
  assert.equal(await titles('/v1/events/?end=2029-12-31T00:01:00Z'), '40')
  assert.equal(await titles('/v1/events/?start=2029-12-31T02:02:00 02:00'), '32')
  const page = (await get(`/v1/events/${cameraId}?x=1&limit=1&offset=1&${query}`)).json()
  const link = (offset: string) =>
    `${publicUrl}/v1/events/${cameraId}/?end=2029-12-31T00%3A03%3A00Z&limit=1${offset}&start=2029-12-31T00%3A00%3A00Z&x=1`
  assert.deepEqual([page.count, page.next, page.previous], [4, link('&offset=2'), link('')])
  assert.deepEqual(
    page.results.map(({ title }: { title: string }) => title),
    ['1'],
  )
  assert.equal((await get(page.next.replace(publicUrl, ''))).json().results[0].title, '4')
  const beyond = (await get('/v1/events/?offset=9007199254740991&limit=1000000')).json()
  assert.deepEqual([beyond.count, beyond.next, beyond.results], [5, null, []])
  assert.equal(await titles('/v1/events/?start=&end=&limit=&offset='), '32140')
  assert.equal(await titles('/v1/events/?limit=x&limit=2'), '32')
})

test('events of one category are listed and counted apart', async (t) => {
  const { report, get, cameraId } = await openClient(t)
  for (const [index, category] of ['bell', 'motion', 'bell', undefined].entries()) {
    await report({ camera: cameraId, title: `${index}`, category, occurred_at: `2029-12-31T00:0${index}:00Z` })
  }
  const read = async (query: string) => {
    const { count, next, results } = (await get(`/v1/events/${query}`)).json()
    return [count, results.map(({ title }: { title: string }) => title).join(''), next]
  }
  assert.deepEqual(await read('?category=bell'), [2, '20', null])
  assert.deepEqual(await read(`${cameraId}/?category=generic`), [1, '3', null])
  assert.deepEqual(await read('?category=bell&start=2029-12-31T00:01:00Z'), [1, '2', null])
  assert.deepEqual(await read('?category=unheard_of'), [0, '', null])
  assert.deepEqual(await read('?category='), [4, '3210', null])
  assert.deepEqual(await read('?category=bell&limit=1'), [
    2,
    '2',
    `${publicUrl}/v1/events/?category=bell&limit=1&offset=1`,
  ])
})

test('a list is never older than the newest event', async (t) => {
  const { report, get, cameraId, store, addUser } = await openClient(t)
  const other = await addUser('other@example.com')
  const counts = async () => [
    (await get('/v1/events/?limit=2')).json().count,
    (await get(`/v1/events/${cameraId}/?limit=2`)).json().count,
    (await get('/v1/events/?limit=2', other.authorization)).json().count,
  ]
  for (let i = 0; i < 5; i++) {
    assert.deepEqual(await counts(), [i, i, 0])
    assert.deepEqual(await counts(), [i, i, 0])
    await report({ camera: cameraId })
  }
  await store.events.removeLast(cameraId, 2)
  assert.deepEqual(await counts(), [3, 3, 0])
  await store.cameras.remove(cameraId)
  assert.equal((await get('/v1/events/?limit=2')).json().count, 0)
  assert.equal((await get(`/v1/events/${cameraId}/?limit=2`)).statusCode, 404)
})

test('each invalid list parameter is a 400 that names it', async (t) => {
  const { get, cameraId } = await openClient(t)
  const times = [
    'x',
    '0',
    '2030-02-30T00:00:00Z',
    '2030-01-01',
    'NaN',
    '١٢',
    '%00',
    `${'9'.repeat(5000)}`,
    '2030-01-01T25:00:00Z',
  ]
  const bad: [string, string[]][] = [
    ['limit', ['0', '-1', 'x', '1.5', 'NaN', 'Infinity', '1e3', '٣', '%00', '0x10', '1 2']],
    ['offset', ['-1', 'x', '1.5', 'NaN', '-Infinity', '9007199254740993', '9'.repeat(400), '%00']],
    ['category', ['A', 'a b', 'a-b', '<>', 'ü', 'x'.repeat(65), '%00']],
    ['start', times],
    ['end', times],
  ]
  for (const [name, values] of bad) {
    for (const value of values) {
      for (const path of ['/v1/events/', `/v1/events/${cameraId}/`]) {
        const refused = await get(`${path}?${name}=${value}`)
        assert.deepEqual(
          [refused.statusCode, Object.keys(refused.json().errors ?? {})],
          [400, [name]],
          `${name}=${value}`,
        )
      }
    }
  }
  for (const query of [
    'start=2030-01-01T00:00:00Z&end=2030-01-01T00:00:00Z',
    'start=2030-01-02T00:00:00Z&end=2030-01-01T00:00:00Z',
    'start=2029-01-01T00:00:00Z&start=2031-01-01T00:00:00Z&end=2030-01-01T00:00:00Z',
  ]) {
    const refused = await get(`/v1/events/?${query}`)
    assert.deepEqual(
      [refused.statusCode, refused.json().errors],
      [400, { end: ['The end must be later than the start.'] }],
    )
  }
})

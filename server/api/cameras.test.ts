import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { openTemporaryApi, publicUrl } from '../../test/support/api/temporary-api.ts'
import { createPersonalToken, describePersonalToken } from '../auth/personal-token.ts'

async function openOwner(t: TestContext) {
  const temporary = await openTemporaryApi(t)
  const owner = await temporary.addUser('owner@example.com')
  const send = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, body?: unknown) =>
    temporary.api.server.inject({
      method,
      url,
      headers: { authorization: owner.authorization },
      ...(body !== undefined && { payload: body as object }),
    })
  const get = async (url: string) => (await send('GET', url)).json()
  return { ...temporary, owner, send, get }
}

test('the user, with every key', async (t) => {
  const { get, owner, addCamera } = await openOwner(t)
  await addCamera(owner.userId)
  assert.deepEqual(await get('/v1/me/'), {
    id: owner.userId,
    email: 'owner@example.com',
    first_name: 'Ada',
    last_name: 'Lind',
    phone: null,
    root_site: owner.userId,
    my_cameras_count: 1,
    shared_cameras_count: 0,
    total_cameras_count: 1,
    cameras_with_guests_count: 0,
    require_qualification: false,
    available_features: { live_view: true, connect_camera: true },
    is_owner: true,
    outage_mails: true,
  })
})

test('a camera, with every key in order', async (t) => {
  const { get, store, owner, addCamera } = await openOwner(t)
  const id = await addCamera(owner.userId)
  const camera = await get(`/v1/cameras/${id}/`)
  assert.deepEqual(Object.keys(camera), [
    'id',
    'name',
    'type',
    'snapshot',
    'status',
    'event_api_hash',
    'live_snapshot',
    'streams',
    'applications',
    'has_recording',
    'low_latency_enabled',
    'audio_enabled',
    'status_reason',
    'status_code',
    'recording_status',
    'keeps_damaged_pictures',
  ])
  assert.equal(camera.snapshot, null)
  assert.equal(camera.status, 'unknown')
  assert.deepEqual(camera.applications, [])
  assert.deepEqual([camera.has_recording, camera.recording_status], [false, null])
  assert.deepEqual(
    camera.streams.map(({ format, url }: { format: string; url: string }) => [format, url.split('?')[0]]),
    [
      ['mjpeg', `${publicUrl}/media/cameras/${id}/live.mjpeg`],
      ['mp4', `${publicUrl}/media/cameras/${id}/live.mp4`],
      ['mpegts', `${publicUrl}/media/cameras/${id}/live.ts`],
      ['hls', `${publicUrl}/media/cameras/${id}/live.m3u8`],
    ],
  )
  assert.match(camera.live_snapshot, /\/live\.jpg\?token=/)
  assert.ok(camera.streams.every((stream: object) => !('refresh_rate' in stream)))

  await store.cameras.setSnapshotAt(id, Date.UTC(2026, 6, 1, 10, 20, 30, 999))
  await store.cameras.setStatus(id, {
    status: 'offline',
    reason: 'auth_failed',
    code: 'login_refused',
    detail: 'The camera refused the password.',
  })
  await store.recordings.enable(id, { retention: 'P7D', maxBytes: null })
  const later = await get(`/v1/cameras/${id}/`)
  assert.equal(later.snapshot.created_at, '2026-07-01T10:20:30Z')
  assert.match(later.snapshot.url, /\/snapshot\.jpg\?token=/)
  assert.equal(later.status, 'offline')
  assert.equal(later.status_reason, 'The camera refused the password.')
  assert.equal(later.status_code, 'login_refused')
  assert.deepEqual(later.applications, [{ code: 'CRA' }])
  assert.deepEqual([later.has_recording, later.recording_status], [true, 'READY'])
  await store.recordings.setStatus(id, 'ERROR', 'No space is left.')
  assert.equal((await get(`/v1/cameras/${id}/`)).recording_status, 'ERROR')

  await store.cameras.setFormat(id, { type: 'mjpeg', hasAudio: true })
  const last = await get(`/v1/cameras/${id}/`)
  assert.deepEqual(last.streams.length, 1)
  assert.equal(last.audio_enabled, true)
  await store.cameras.update(id, { keepsDamaged: true })
  assert.equal((await get(`/v1/cameras/${id}/`)).keeps_damaged_pictures, true)
})

test('the live view is folded into the URLs', async (t) => {
  const { get, mediaTokens, owner, addCamera } = await openOwner(t)
  const id = await addCamera(owner.userId)
  for (const camera of [
    await get(`/v1/cameras/${id}/?refresh_rate=0.1&max_width=640&max_height=480`),
    (await get('/v1/cameras/?refresh_rate=0.1&max_width=640&max_height=480')).results[0],
  ]) {
    assert.equal(camera.streams[0].refresh_rate, 0.1)
    const tokenOf = (url: string) => new URL(url).searchParams.get('token')!
    const mjpeg = mediaTokens.verify(tokenOf(camera.streams[0].url), { kind: 'mjpeg', cameraId: id })
    assert.deepEqual(mjpeg.view, { refreshRate: 0.1, maxWidth: 640, maxHeight: 480 })
    const snapshot = mediaTokens.verify(tokenOf(camera.live_snapshot), { kind: 'live_snapshot', cameraId: id })
    assert.deepEqual(snapshot.view, { maxWidth: 640, maxHeight: 480 })
  }
})

test('out of range or no number is 400 and named', async (t) => {
  const { send, owner, addCamera } = await openOwner(t)
  const id = await addCamera(owner.userId)
  const cases: [string, string, string][] = [
    ['refresh_rate=0', 'refresh_rate', 'Ensure this value is greater than 0.'],
    ['refresh_rate=-1', 'refresh_rate', 'Ensure this value is greater than 0.'],
    ['refresh_rate=NaN', 'refresh_rate', 'A valid number is required.'],
    ['refresh_rate=Infinity', 'refresh_rate', 'A valid number is required.'],
    ['refresh_rate=1e999', 'refresh_rate', 'A valid number is required.'],
    ['refresh_rate=fast', 'refresh_rate', 'A valid number is required.'],
    ['max_width=0', 'max_width', 'Ensure this value is greater than or equal to 1.'],
    ['max_width=1.5', 'max_width', 'A valid integer is required.'],
    ['max_height=x', 'max_height', 'A valid integer is required.'],
    ['max_height=99999999999999999999', 'max_height', 'Ensure this value is less than or equal to 2147483647.'],
    ['max_width=9007199254740993', 'max_width', 'Ensure this value is less than or equal to 2147483647.'],
  ]
  for (const path of [`/v1/cameras/${id}/`, '/v1/cameras/']) {
    for (const [query, field, reason] of cases) {
      const response = await send('GET', `${path}?${query}`)
      assert.equal(response.statusCode, 400, query)
      assert.deepEqual(response.json(), {
        status: 400,
        title: 'invalid',
        detail: `${field}: ${reason}`,
        errors: { [field]: [reason] },
      })
    }
  }
  const both = (await send('GET', '/v1/cameras/?limit=x&offset=-1&max_width=0&unknown=x')).json()
  assert.deepEqual(Object.keys(both.errors), ['limit', 'offset', 'max_width'])
  assert.equal((await send('GET', `/v1/cameras/${id}/?refresh_rate=1e-3&max_width=&unknown=%00`)).statusCode, 200)
})

test('pages: order of keys, links ready to use, other parameters kept', async (t) => {
  const { get, send, owner, addCamera } = await openOwner(t)
  for (let i = 0; i < 12; i++) await addCamera(owner.userId, `camera ${i}`)
  const first = await get('/v1/cameras/?limit=5&max_width=320')
  assert.deepEqual(Object.keys(first), ['count', 'next', 'previous', 'results'])
  assert.equal(first.count, 12)
  assert.equal(first.previous, null)
  assert.equal(first.next, `${publicUrl}/v1/cameras/?limit=5&max_width=320&offset=5`)
  const second = await get(new URL(first.next).pathname + new URL(first.next).search)
  assert.deepEqual(
    second.results.map(({ name }: { name: string }) => name),
    ['camera 5', 'camera 6', 'camera 7', 'camera 8', 'camera 9'],
  )
  assert.equal(second.previous, `${publicUrl}/v1/cameras/?limit=5&max_width=320`)
  const third = await get('/v1/cameras/?limit=5&offset=10')
  assert.deepEqual([third.results.length, third.next], [2, null])
  const past = await get('/v1/cameras/?limit=5&offset=500')
  assert.deepEqual([past.count, past.results, past.next], [12, [], null])
  assert.equal((await get('/v1/cameras/?limit=5000')).results.length, 12)
  assert.equal((await get(`/v1/cameras/?limit=${'9'.repeat(23)}`)).results.length, 12)
  assert.equal((await get('/v1/cameras/?offset=9007199254740991')).results.length, 0)
  const far = await send('GET', '/v1/cameras/?offset=9223372036854775807')
  assert.deepEqual(far.json().errors, { offset: ['Ensure this value is less than or equal to 9007199254740991.'] })
  for (const query of ['limit=0', 'limit=-1', 'limit=x', 'limit=1.5', 'offset=-1', 'offset=x', 'limit=1e3']) {
    assert.equal((await send('GET', `/v1/cameras/?${query}`)).statusCode, 400, query)
  }
})

test('a camera is added, changed and removed', async (t) => {
  const { get, send, store } = await openOwner(t)
  const created = await send('POST', '/v1/cameras/', {
    name: '  Door ',
    url: 'rtsp://ada:s%40cret@camera.example:8554/stream',
    unknown: 1,
  })
  assert.equal(created.statusCode, 201)
  const { id, name, type } = created.json()
  assert.deepEqual([name, type], ['Door', 'h264'])
  assert.ok(!created.body.includes('s@cret') && !created.body.includes('s%40cret'))
  const row = await store.cameras.get(id)
  assert.deepEqual([row.url, row.username, row.password], ['rtsp://camera.example:8554/stream', 'ada', 's@cret'])

  const renamed = await send('PUT', `/v1/cameras/${id}/`, { name: 'Garage' })
  assert.equal(renamed.statusCode, 200)
  assert.equal(renamed.json().name, 'Garage')
  assert.equal((await get(`/v1/cameras/${id}/`)).name, 'Garage')
  assert.equal((await store.cameras.get(id)).password, 's@cret')

  await send('PUT', `/v1/cameras/${id}/`, { url: 'rtsp://camera.example:8554/other' })
  assert.equal((await store.cameras.get(id)).password, 's@cret')
  await send('PUT', `/v1/cameras/${id}/`, { url: 'rtsp://elsewhere.example/other' })
  assert.deepEqual((await store.cameras.get(id)).password, null, 'a password does not follow to another host')

  const removed = await send('DELETE', `/v1/cameras/${id}/`)
  assert.deepEqual([removed.statusCode, removed.body], [204, ''])
  assert.equal((await send('GET', `/v1/cameras/${id}/`)).statusCode, 404)
  assert.equal((await send('DELETE', `/v1/cameras/${id}/`)).statusCode, 404)
})

test("the owner sees a camera's URL but never its password; callers with read scope see neither", async (t) => {
  const { api, send, owner, addUser, store } = await openOwner(t)
  const body = { name: 'Door', url: 'rtsp://ada:s%40cret@camera.example/a?pwd=s3cret' }
  const { id } = (await send('POST', '/v1/cameras/', body)).json()
  const path = `/v1/cameras/${id}/source/`
  const answer = await send('GET', path)
  assert.deepEqual(answer.json(), { url: 'rtsp://camera.example/a?pwd=***', username: 'ada', has_password: true })
  assert.equal((await send('PUT', `/v1/cameras/${id}/`, { url: answer.json().url })).statusCode, 400)
  assert.equal((await send('PUT', `/v1/cameras/${id}/`, { username: 'bo' })).statusCode, 200)
  assert.deepEqual((await send('GET', path)).json().username, 'bo')
  const row = await store.cameras.get(id)
  assert.deepEqual([row.url, row.password], ['rtsp://camera.example/a?pwd=s3cret', 's@cret'])
  const { authorization } = await addUser('stranger@example.com')
  assert.equal((await api.server.inject({ url: path, headers: { authorization } })).statusCode, 404)
  const value = createPersonalToken(randomBytes)
  const readOnly = { userId: owner.userId, name: 'wall', scopes: ['read'], ...describePersonalToken(value) }
  await store.tokens.insert(readOnly)
  const refused = await api.server.inject({ url: path, headers: { authorization: `PersonalAccessToken ${value}` } })
  assert.equal(refused.statusCode, 403)
})

test('an HTTP camera is assumed to be MJPEG until it is connected, unless its owner sets the type', async (t) => {
  const { send } = await openOwner(t)
  const add = async (more: object) =>
    (await send('POST', '/v1/cameras/', { name: 'x', url: 'http://c/video', ...more })).json()
  const { type, streams } = await add({})
  assert.deepEqual([type, streams.length], ['mjpeg', 1])
  assert.equal((await add({ type: 'h264' })).type, 'h264')
  assert.equal((await add({ url: 'rtsp://c/video' })).type, 'h264')
})

test('an invalid camera is refused field by field', async (t) => {
  const { send } = await openOwner(t)
  const cases: [unknown, Record<string, string | RegExp>][] = [
    [{}, { name: 'This field is required.', url: 'This field is required.' }],
    [
      { name: '  ', url: null },
      { name: 'This field may not be blank.', url: 'This field may not be null.' },
    ],
    [
      { name: 5, url: [] },
      { name: 'Not a valid string.', url: 'Not a valid string.' },
    ],
    [{ name: 'a\0b', url: 'rtsp://c/' }, { name: 'Null characters are not allowed.' }],
    [{ name: 'x'.repeat(201), url: 'rtsp://c/' }, { name: 'Ensure this field has no more than 200 characters.' }],
    [{ name: 'x', url: 'rtsp://c/', type: 'vp9' }, { type: '"vp9" is not a valid choice.' }],
    [{ name: 'x', url: 'file:///etc/passwd' }, { url: /rtsp/ }],
    [{ name: 'x', url: 'nonsense' }, { url: /rtsp/ }],
    [
      { name: 'x', url: 'ftp://c/video.mjpg' },
      { url: /must begin with rtsp:\/\/, rtsps:\/\/, http:\/\/ or https:\/\// },
    ],
    [{ name: 'x\u202ey', url: 'rtsp://c/' }, { name: /direction of text/ }],
    [{ name: 'x\ny', url: 'rtsp://c/' }, { name: /control characters/ }],
  ]
  for (const [body, expected] of cases) {
    const response = await send('POST', '/v1/cameras/', body)
    assert.equal(response.statusCode, 400, JSON.stringify(body))
    const { title, errors, detail } = response.json()
    for (const field of Object.keys(expected)) assert.ok(detail.includes(`${field}: `), detail)
    assert.equal(title, 'invalid')
    assert.deepEqual(Object.keys(errors), Object.keys(expected))
    for (const [field, reason] of Object.entries(expected)) {
      if (typeof reason === 'string') assert.deepEqual(errors[field], [reason])
      else assert.match(errors[field][0], reason)
    }
  }
})

test('answers from memory follow every change', async (t) => {
  const { get, store, owner, addCamera } = await openOwner(t)
  const id = await addCamera(owner.userId)
  assert.equal((await get('/v1/me/')).my_cameras_count, 1)
  assert.equal((await get('/v1/me/')).my_cameras_count, 1)
  await addCamera(owner.userId)
  assert.equal((await get('/v1/me/')).my_cameras_count, 2)
  assert.equal((await get(`/v1/cameras/${id}/`)).status, 'unknown')
  await store.cameras.setStatus(id, { status: 'online' })
  assert.equal((await get(`/v1/cameras/${id}/`)).status, 'online')
  assert.equal((await get('/v1/cameras/')).results[0].status, 'online')
})

test('the camera limit holds for users however fast they add cameras, and not for owners of the server', async (t) => {
  const { api, store, addUser } = await openTemporaryApi(t, { cameraLimit: 3 })
  const chief = await addUser('chief@example.com')
  const user = await addUser('user@example.com')
  const add = ({ authorization }: { authorization: string }) => {
    const payload = { name: 'Door', type: 'h264', url: 'rtsp://camera.example/1' }
    return api.server.inject({ method: 'POST', url: '/v1/cameras/', headers: { authorization }, payload })
  }
  const answers = await Promise.all(Array.from({ length: 8 }, () => add(user)))
  assert.equal(answers.filter(({ statusCode }) => statusCode === 201).length, 3)
  const refused = answers.find(({ statusCode }) => statusCode === 400)!.json()
  const reason = 'You have 3 cameras; this server allows 3 for each account (option camera-limit).'
  assert.deepEqual(refused.errors, { non_field_errors: [reason] })
  assert.equal(await store.cameras.countByOwner(user.userId), 3)
  for (let i = 0; i < 5; i++) assert.equal((await add(chief)).statusCode, 201)
})

test('a user who exceeded the limit before it was set keeps all cameras and can add none', async (t) => {
  const { api, addUser, addCamera } = await openTemporaryApi(t, { cameraLimit: 2 })
  await addUser('chief@example.com')
  const { userId, authorization } = await addUser('user@example.com')
  const ids = [await addCamera(userId), await addCamera(userId), await addCamera(userId)]
  const send = (method: 'PUT' | 'POST' | 'GET', url: string, payload?: object) =>
    api.server.inject({ method, url, headers: { authorization }, ...(payload && { payload }) })
  const camera = { name: 'Door', type: 'h264', url: 'rtsp://camera.example/1' }
  assert.equal((await send('PUT', `/v1/cameras/${ids[2]}/`, { name: 'Garage' })).statusCode, 200)
  assert.equal((await send('GET', '/v1/cameras/')).json().count, 3)
  const refused = await send('POST', '/v1/cameras/', camera)
  assert.equal(refused.statusCode, 400)
  assert.match(refused.json().detail, /You have 3 cameras; this server allows 2/)
})

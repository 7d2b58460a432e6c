// The access matrix: every camera endpoint for every kind of caller.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { Endpoint } from '../../contract/endpoint.ts'
import { type EndpointName, endpointNames, endpoints } from '../../contract/endpoints.ts'
import { FootageScene } from '../../test/playback/footage-scene.ts'
import { openTemporaryApi, type TemporaryApi } from '../../test/support/api/temporary-api.ts'
import { syntheticStartMs } from '../../test/support/media/synthetic-frames.ts'
import { addKeeper } from '../../test/support/store/temporary-store.ts'
import { createPersonalToken, describePersonalToken } from '../auth/personal-token.ts'
import { writeTime } from '../model/time.ts'

const start = writeTime(syntheticStartMs)
const end = writeTime(syntheticStartMs + 8000)
const range = `?start=${start}&end=${end}`

/**
 * Requests that are valid for an authorized caller. Other endpoints are called without a body, which an authorized
 * caller may see rejected.
 */
const requests: Partial<Record<EndpointName, { query?: string; body?: object }>> = {
  getCamera: { query: '?max_width=320' },
  getSharedCamera: { query: '?max_width=320' },
  getCameraSource: {},
  getCameraStatistics: {},
  updateCamera: { body: { name: 'Garage' } },
  getRecording: {},
  getTimeline: { query: range },
  createStream: { query: range },
  getSharedRecording: {},
  getSharedTimeline: { query: range },
  createSharedStream: { query: range },
  getPictures: {},
  getSharedPictures: {},
  createDownload: { query: range },
  createSharedDownload: { query: range },
  enableRecording: { body: { retention: 'P7D' } },
  updateRecording: { body: { retention: 'P8D' } },
  startRecording: { query: '?duration=60' },
  stopRecording: {},
  disableRecording: {},
  listGuests: {},
  createGuest: { body: { email: 'more@example.com' } },
  getGuest: {},
  updateGuest: { body: { permissions: { share_notifications: true } } },
  deleteSharedCamera: {},
  deleteGuest: {},
  deleteCamera: {},
}

type Person = Awaited<ReturnType<TemporaryApi['addUser']>>

const ofCamera = endpointNames.filter((name) => /^\/v1\/(shared-)?cameras\/\{/.test(endpoints[name].path))

/** A recorded camera with id 1, and all kinds of callers. */
async function openScene(t: TestContext) {
  const scenes: FootageScene[] = []
  t.after(() => Promise.all(scenes.map((scene) => scene[Symbol.asyncDispose]())))
  const temporary = await openTemporaryApi(t, {}, (store, access) => {
    const scene = new FootageScene(store.segments, store.streams)
    scenes.push(scene)
    return { recorded: scene.playback({ canView: (user, camera) => access.canViewRecordings(user, camera) }) }
  })
  const { store, addUser, addCamera } = temporary
  const people: Record<string, Person> = {}
  for (const name of [
    'owner',
    'guest',
    'viewer',
    'exGuest',
    'exViewer',
    'claimer',
    'otherGuest',
    'stranger',
    'disabled',
  ])
    people[name] = await addUser(`${name}@example.com`)
  const owner = people.owner!
  const cameraId = await addCamera(owner.userId)
  await store.recordings.enable(cameraId, { retention: 'P7D', maxBytes: null })
  await scenes[0]!.record(0, 10)
  const invite = async (email: string, canViewRecordings: boolean, camera = cameraId) =>
    (await store.guests.insert({ cameraId: camera, email, canViewRecordings, sharesNotifications: false })).id
  await invite('guest@example.com', false)
  // A guest whom the owner changes and removes.
  const guestId = await invite('spare@example.com', false)
  await invite('Viewer@Example.com', true)
  await invite('disabled@example.com', true)
  await store.guests.remove(cameraId, await invite('exGuest@example.com', true))
  const former = await invite('exViewer@example.com', true)
  await store.guests.update(cameraId, former, { canViewRecordings: false })
  // Invited but not accepted: a caller who merely claims the address.
  await invite('invited@example.com', true)
  const hash = new Uint8Array(32)
  const link = { kind: 'email', hash, userId: people.claimer!.userId, email: 'invited@example.com' } as const
  await store.links.insert({ ...link, expiresAtMs: Date.now() + 60_000 })
  const otherId = await addCamera(owner.userId, 'Other')
  await invite('otherGuest@example.com', true, otherId)
  const foreignId = await addCamera(people.stranger!.userId, 'Foreign')
  await invite('owner@example.com', true, foreignId)
  await store.accounts.change(people.disabled!.userId, { isDisabled: true })
  const otherScope = await addUser('scope@example.com', ['event_access', 'event_manage'])
  await invite('scope@example.com', true)

  const send = (name: EndpointName, camera: number, authorization?: string) => {
    const { method, path }: Endpoint = endpoints[name]
    const { query = '', body = {} } = requests[name] ?? {}
    return temporary.api.server.inject({
      method,
      url: path.replace('{camera_id}', String(camera)).replaceAll(/\{\w+\}/g, String(guestId)) + query,
      headers: { ...(authorization && { authorization }), 'content-type': 'application/json' },
      ...(method === 'POST' || method === 'PUT' ? { payload: JSON.stringify(body) } : {}),
    })
  }
  const addToken = async (userId: number, scopes: readonly string[]) => {
    const value = createPersonalToken(randomBytes)
    await store.tokens.insert({ userId, name: 'test', scopes, ...describePersonalToken(value) })
    return `PersonalAccessToken ${value}`
  }
  const dump = async () => ({
    cameras: await store.cameras.list(),
    recordings: await store.recordings.list(),
    guests: await store.guests.listByCamera(cameraId, { limit: 100, offset: 0 }),
  })
  return { ...temporary, people, otherScope, cameraId, otherId, foreignId, send, dump, addToken }
}

/** Callers who are allowed. */
function admits(name: EndpointName): readonly string[] {
  const { path }: Endpoint = endpoints[name]
  if (!path.startsWith('/v1/shared-cameras/')) return ['owner']
  return path.includes('/recording/') ? ['viewer'] : ['guest', 'viewer', 'exViewer']
}

test('T20: each operation on a camera, for everyone there is', async (t) => {
  const { people, otherScope, cameraId, send, dump } = await openScene(t)
  const before = await dump()
  assert.ok(ofCamera.length >= Object.keys(requests).length)
  for (const name of ofCamera) {
    for (const [who, { authorization }] of Object.entries(people)) {
      if (admits(name).includes(who)) continue
      const refused = await send(name, cameraId, authorization)
      if (who === 'disabled') {
        assert.equal(refused.statusCode, 401, `${name} by ${who}`)
        continue
      }
      const missing = await send(name, 999_999, authorization)
      assert.deepEqual([refused.statusCode, refused.body], [404, missing.body], `${name} by ${who}`)
      const { date: _date, ...headers } = refused.headers
      const { date: _missingDate, ...missingHeaders } = missing.headers
      assert.deepEqual(headers, missingHeaders, `${name} by ${who}`)
    }
    for (const camera of [cameraId, 999_999]) {
      assert.equal((await send(name, camera)).statusCode, 401, `${name} by nobody`)
      const { statusCode, headers } = await send(name, camera, otherScope.authorization)
      assert.deepEqual([statusCode, headers['www-authenticate']?.includes('insufficient_scope')], [403, true], name)
    }
  }
  assert.deepEqual(await dump(), before, 'whoever was refused has changed nothing')

  // Requests that delete something come last.
  const inOrder = [...ofCamera.filter((name) => !(name in requests)), ...(Object.keys(requests) as EndpointName[])]
  for (const name of inOrder) {
    const { status }: Endpoint = endpoints[name]
    for (const who of admits(name)) {
      const answer = await send(name, cameraId, people[who]!.authorization)
      const expected = name in requests ? [status] : [status, 400, 404]
      assert.ok(expected.includes(answer.statusCode), `${name} by ${who}: ${answer.statusCode} ${answer.body}`)
    }
  }
})

test('T20: a token covers what its scopes name, for owners and guests alike', async (t) => {
  const { people, cameraId, send, addToken } = await openScene(t)
  for (const name of ofCamera) {
    const { access, method }: Endpoint = endpoints[name]
    // For a camera that does not exist: the token is checked before the resource.
    const statusWith = async (who: string, ...scopes: string[]) =>
      (await send(name, 999_999, await addToken(people[who]!.userId, scopes))).statusCode
    for (const who of ['owner', 'viewer']) {
      assert.equal(await statusWith(who, access.or!), 404, `${name} with ${access.or}`)
      const doesReadSuffice = method === 'GET' && name !== 'getCameraSource'
      assert.equal(await statusWith(who, 'read'), doesReadSuffice ? 404 : 403, `${name} with read`)
      assert.equal(await statusWith(who, 'read', 'write'), 404, `${name} with read and write`)
      assert.equal(await statusWith(who, 'write'), 403, `${name} with write alone`)
    }
  }
  const fine = await addToken(people.viewer!.userId, ['recording_access'])
  assert.equal((await send('getSharedRecording', cameraId, fine)).statusCode, 200)
  assert.equal((await send('getSharedCamera', cameraId, fine)).statusCode, 403)
})

test('T20: a camera is in exactly the lists of those who may see it', async (t) => {
  const { api, people, cameraId, otherId, foreignId } = await openScene(t)
  const list = async (path: string, { authorization }: Person) => {
    const { statusCode, body } = await api.server.inject({ url: path, headers: { authorization } })
    return statusCode === 200 ? (JSON.parse(body).results as { id: number }[]).map(({ id }) => id) : statusCode
  }
  const expected: Record<string, readonly [unknown, unknown]> = {
    owner: [[cameraId, otherId], [foreignId]],
    guest: [[], [cameraId]],
    viewer: [[], [cameraId]],
    exViewer: [[], [cameraId]],
    otherGuest: [[], [otherId]],
    stranger: [[foreignId], []],
    disabled: [401, 401],
  }
  for (const [who, person] of Object.entries(people)) {
    const lists = [await list('/v1/cameras/', person), await list('/v1/shared-cameras/', person)]
    assert.deepEqual(lists, expected[who] ?? [[], []], who)
  }
})

test('T20: a recorded stream is for who opened it, as long as they may see recordings', async (t) => {
  const { api, people, cameraId, store, send } = await openScene(t)
  const get = (url: string, authorization?: string, method: 'GET' | 'HEAD' = 'GET') => {
    const headers = authorization === undefined ? {} : { authorization }
    return api.server.inject({ method, url: new URL(url).pathname, headers })
  }
  const { viewer, owner, guest } = people
  const stream = (await send('createSharedStream', cameraId, viewer!.authorization)).json()
  const playlist = await get(stream.url)
  assert.equal(playlist.statusCode, 200)
  const file = new URL(/^\d+\.mp4$/m.exec(playlist.body)![0], stream.url).href
  assert.equal((await get(stream.stream_info, viewer!.authorization)).statusCode, 200)
  for (const other of [owner!, guest!]) {
    assert.equal((await get(stream.stream_info, other.authorization)).statusCode, 404)
  }
  const statuses = async () => [
    (await get(stream.url)).statusCode,
    (await get(file, undefined, 'HEAD')).statusCode,
    (await get(stream.stream_info, viewer!.authorization)).statusCode,
    (await api.server.inject({ method: 'POST', url: new URL(stream.stream_controls.play).pathname })).statusCode,
    (await send('getSharedRecording', cameraId, viewer!.authorization)).statusCode,
  ]
  const yes = [200, 200, 200, 204, 200]
  const no = [404, 404, 404, 404, 404]
  assert.deepEqual(await statuses(), yes)
  const { id } = (await store.guests.findByEmail(cameraId, 'viewer@example.com'))!
  await store.guests.update(cameraId, id, { canViewRecordings: false })
  assert.deepEqual(await statuses(), no)
  await store.guests.update(cameraId, id, { canViewRecordings: true })
  assert.deepEqual(await statuses(), yes)
  await addKeeper(store)
  await store.accounts.change(owner!.userId, { isDisabled: true })
  assert.deepEqual(await statuses(), no)
  await store.accounts.change(owner!.userId, { isDisabled: false })
  assert.deepEqual(await statuses(), yes)
  await store.guests.remove(cameraId, id)
  assert.deepEqual(await statuses(), no)
})

// What a guest sees of somebody else's camera, and how that ends.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { noFootage, openTemporaryApi, publicUrl } from '../../test/support/api/temporary-api.ts'
import { until } from '../../test/support/until.ts'
import { systemClock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import type { CameraAccess } from './camera-access.ts'
import type { ApiDeps, Live, Recorded } from './deps.ts'

async function open(t: TestContext, parts: Partial<ApiDeps> = {}, addParts?: Parameters<typeof openTemporaryApi>[2]) {
  const temporary = await openTemporaryApi(t, parts, addParts)
  const { store, api, addUser, addCamera } = temporary
  const owner = await addUser('owner@example.com')
  const guest = await addUser('guest@example.com')
  const cameraId = await addCamera(owner.userId)
  await store.recordings.enable(cameraId, { retention: 'P7D', maxBytes: 5_000_000 })
  const share = async (canViewRecordings = false, camera = cameraId) =>
    store.guests.insert({ cameraId: camera, email: 'guest@example.com', canViewRecordings, sharesNotifications: false })
  const get = async (url: string, who = guest) => {
    const response = await api.server.inject({ url, headers: { authorization: who.authorization } })
    // biome-ignore lint/suspicious/noExplicitAny: whatever was answered
    return { status: response.statusCode, text: response.body, body: response.json() as any }
  }
  return { ...temporary, owner, guest, cameraId, share, get }
}

test('a shared camera looks as its owner sees it, without what is only for the owner', async (t) => {
  const { store, get, owner, guest, cameraId, share } = await open(t)
  const { id } = await share()
  await store.cameras.setStatus(cameraId, { status: 'offline', reason: 'auth_failed', detail: 'Wrong password.' })
  await store.cameras.setSnapshotAt(cameraId, Date.UTC(2030, 0, 1))
  const own = (await get(`/v1/cameras/${cameraId}/`, owner)).body
  const { status, text, body } = await get(`/v1/shared-cameras/${cameraId}/`)
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body), [
    ...['id', 'name', 'type', 'snapshot', 'status', 'live_snapshot', 'streams', 'applications', 'has_recording'],
    ...['low_latency_enabled', 'audio_enabled', 'owner', 'has_notifications', 'recording_status'],
  ])
  const { snapshot, live_snapshot: _live, streams: _streams, ...plain } = body
  assert.deepEqual(plain, {
    id: cameraId,
    name: 'Door',
    type: 'h264',
    status: 'offline',
    applications: [{ code: 'CRA' }],
    has_recording: false,
    low_latency_enabled: true,
    audio_enabled: false,
    owner: { email: 'owner@example.com', first_name: 'Ada', last_name: 'Lind' },
    has_notifications: false,
    recording_status: null,
  })
  assert.equal(snapshot.created_at, '2030-01-01T00:00:00Z')
  assert.doesNotMatch(text, new RegExp(`${own.event_api_hash}|Wrong password|auth_failed|rtsp:`))
  // For the guest alone: no address is the owner's.
  const urlsOf = (camera: typeof body) => [
    camera.live_snapshot,
    ...camera.streams.map(({ url }: { url: string }) => url),
  ]
  assert.deepEqual(
    urlsOf(body).filter((url) => urlsOf(own).includes(url)),
    [],
  )
  assert.deepEqual(
    body.streams.map(({ format }: { format: string }) => format),
    ['mjpeg', 'mp4', 'mpegts', 'hls'],
  )

  await store.guests.update(cameraId, id, { canViewRecordings: true, sharesNotifications: true })
  const allowed = (await get(`/v1/shared-cameras/${cameraId}/`)).body
  assert.deepEqual([allowed.has_recording, allowed.has_notifications, allowed.recording_status], [true, true, 'READY'])
  await store.recordings.disable(cameraId)
  const unrecorded = (await get(`/v1/shared-cameras/${cameraId}/`)).body
  assert.deepEqual([unrecorded.has_recording, unrecorded.applications], [false, []])
  await store.cameras.update(cameraId, { type: 'mjpeg' })
  assert.equal((await get(`/v1/shared-cameras/${cameraId}/`)).body.streams.length, 1)
  await store.users.update(owner.userId, { firstName: 'Eve' })
  assert.equal((await get(`/v1/shared-cameras/${cameraId}/`)).body.owner.first_name, 'Eve')
  assert.equal((await get('/v1/me/')).body.id, guest.userId)
})

test('the list is paginated, tuned as a single camera is, and answers one camera as it answers it alone', async (t) => {
  const { get, owner, addCamera, share, cameraId } = await open(t)
  const ids = [cameraId, await addCamera(owner.userId, 'Garage'), await addCamera(owner.userId, 'Yard')]
  for (const id of ids) await share(id === ids[1], id)
  await addCamera(owner.userId, 'Not shared')
  const query = 'max_width=320&refresh_rate=0.5'
  const list = (await get(`/v1/shared-cameras/?${query}`)).body
  assert.deepEqual([list.count, list.next, list.previous], [3, null, null])
  assert.deepEqual(
    list.results.map(({ id }: { id: number }) => id),
    ids,
  )
  for (const [index, id] of ids.entries()) {
    assert.deepEqual(list.results[index], (await get(`/v1/shared-cameras/${id}/?${query}`)).body)
    assert.equal(list.results[index].streams[0].refresh_rate, 0.5)
  }
  const page = (await get('/v1/shared-cameras/?offset=1&limit=1&max_width=9')).body
  assert.deepEqual(
    page.results.map(({ id }: { id: number }) => id),
    [ids[1]],
  )
  assert.equal(page.next, `${publicUrl}/v1/shared-cameras/?limit=1&max_width=9&offset=2`)
  assert.equal(page.previous, `${publicUrl}/v1/shared-cameras/?limit=1&max_width=9`)
  assert.deepEqual((await get('/v1/shared-cameras/?offset=99')).body.results, [])
  for (const bad of ['limit=0', 'limit=x', 'offset=-1', 'max_width=0', 'max_height=1.5', 'refresh_rate=NaN']) {
    for (const path of ['', `${cameraId}/`]) {
      const { status, body } = await get(`/v1/shared-cameras/${path}?${bad}`)
      const isIgnored = path !== '' && /^(limit|offset)/.test(bad)
      assert.equal(status, isIgnored ? 200 : 400, `${path} ${bad}`)
      if (!isIgnored) assert.deepEqual(Object.keys(body.errors), [bad.split('=')[0]])
    }
  }
})

test('a guest who may see recordings is told of them what is not the business of the owner alone', async (t) => {
  const recorded: Recorded = {
    ...noFootage,
    info: async () => ({ recordingStartMs: Date.UTC(2030, 0, 1), recordingEndMs: Date.UTC(2030, 0, 2) }),
  }
  const { get, store, owner, cameraId, share } = await open(t, { recorded })
  await share(true)
  await store.recordings.setStatus(cameraId, 'ERROR', 'The disk /archive is full.')
  const own = (await get(`/v1/cameras/${cameraId}/recording/`, owner)).body
  const shared = (await get(`/v1/shared-cameras/${cameraId}/recording/`)).body
  assert.deepEqual(shared, { ...own, status_reason: null })
  assert.match(own.status_reason, /disk/)
  for (const query of [
    '',
    '?start=x&end=y',
    '?start=2030-01-01T00:00Z',
    '?start=2030-01-02T00:00Z&end=2030-01-01T00:00Z',
  ]) {
    assert.equal((await get(`/v1/shared-cameras/${cameraId}/recording/timeline/${query}`)).status, 400, query)
  }
  assert.equal((await get(`/v1/shared-cameras/${cameraId}/recording/stream/`)).status, 400)
  const nothing = await get(`/v1/shared-cameras/${cameraId}/recording/stream/?start=2020-01-01T00:00Z`)
  assert.equal(nothing.status, 404)
})

const ends = ['guest removed', 'guest leaves', 'camera removed', 'guest disabled', 'owner disabled'] as const

test('T22: a share that ends, ends everything: answers and addresses at once, open streams within five seconds', async (t) => {
  const endOne = async (how: (typeof ends)[number]) => {
    const scene = await openStreamScene(t)
    const { store, guest, owner, cameraId } = scene
    const { id } = await scene.share(true)
    const { live, recorded, paths } = await scene.watch()
    await scene.addUser('another@example.com') // a change that is no reason to end anything
    if (how === 'guest removed') await store.guests.remove(cameraId, id)
    if (how === 'guest leaves') {
      const { authorization } = guest
      const url = `/v1/shared-cameras/${cameraId}/`
      const { statusCode } = await scene.api.server.inject({ method: 'DELETE', url, headers: { authorization } })
      assert.equal(statusCode, 204)
    }
    if (how === 'camera removed') await store.cameras.remove(cameraId)
    if (how === 'guest disabled') await store.accounts.change(guest.userId, { isDisabled: true })
    if (how === 'owner disabled') {
      await store.accounts.change(guest.userId, { isOwner: true }) // there must be one
      await store.accounts.change(owner.userId, { isDisabled: true })
    }
    const status = how === 'guest disabled' ? 401 : 404
    assert.equal((await scene.get(`/v1/shared-cameras/${cameraId}/`)).status, status, how)
    for (const path of paths.live) assert.equal((await scene.open(path)).statusCode, 403, `${how}: ${path}`)
    for (const path of paths.recorded) assert.equal((await scene.open(path)).statusCode, 404, `${how}: ${path}`)
    await until(() => live.closed && recorded.closed)
  }
  await Promise.all(ends.map(endOne))
})

test('T22: without the right to recordings, open recorded streams end and live ones go on', async (t) => {
  const scene = await openStreamScene(t)
  const { store, cameraId, share } = scene
  const { id } = await share(true)
  const { live, recorded, paths } = await scene.watch()
  await store.guests.update(cameraId, id, { canViewRecordings: false })
  for (const path of paths.recorded) assert.equal((await scene.open(path)).statusCode, 404)
  await until(() => recorded.closed)
  await once(live, 'data')
  assert.equal((await scene.open(paths.live[0]!)).statusCode, 200)
})

test("the first use of a live URL reveals the guest's name to the owner", async (t) => {
  const scene = await openStreamScene(t)
  const { store, cameraId, share, mediaTokens, guest } = scene
  const { id } = await share()
  const credential = { kind: 'personal', id: guest.tokenId } as const
  const token = mediaTokens.sign({ kind: 'mpegts', cameraId, userId: guest.userId, credential, view: {} })
  const nameOf = async () => (await store.guests.find(cameraId, id))!.firstName
  assert.equal((await scene.open(`/media/cameras/${cameraId}/live.ts?token=${token}x`)).statusCode, 403)
  assert.equal(await nameOf(), null)
  const stream = await scene.open(`/media/cameras/${cameraId}/live.ts?token=${token}`)
  assert.equal(stream.statusCode, 200)
  stream.destroy()
  assert.equal(await nameOf(), 'Ada')
})

async function* sendForEver(signal?: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
  while (!signal?.aborted) {
    yield new Uint8Array(1000)
    await delay(20)
  }
}

const noCamera = () => Promise.reject(new Error('not asked for'))

const endlessLive: Live = {
  camera: () => ({
    openViewer: (_format, { signal }) => sendForEver(signal),
    openMseViewer: () => {
      throw new Error('not asked for')
    },
    openMjpeg: ({ signal }) => sendForEver(signal),
    snapshot: async () => ({ jpeg: new Uint8Array(9), wallMs: 0 }),
    hlsPlaylist: noCamera,
    hlsSegment: noCamera,
  }),
}

/**
 * One recorded stream that somebody opened, of a file that is too long to be sent; rights as the playback asks for
 * them.
 */
function createFootage(access: CameraAccess, viewer: { userId: number; cameraId: number }): Recorded {
  const check = async () => {
    if (!(await access.canViewRecordings(viewer.userId, viewer.cameraId))) throw new AppError('not_found', 'no stream')
    return viewer
  }
  return {
    ...noFootage,
    checkAccess: check,
    playlist: async () => {
      await check()
      return '#EXTM3U\n'
    },
    openBytes: async () => {
      await check()
      const body = { read: async (target: Uint8Array) => target.length, [Symbol.asyncDispose]: async () => {} }
      return { status: 200, firstByte: 0, lastByte: 1e15 - 1, totalBytes: 1e15, body }
    },
  }
}

const streamId = '0123456789abcdef0123456789abcdef'

/** A camera and a recording that send for ever, to whoever may watch. */
async function openStreamScene(t: TestContext) {
  const viewer = { userId: 0, cameraId: 0 }
  // No half a minute ever passes, after which access would be checked anyway.
  const clock = { ...systemClock, monotonicMs: () => 0 }
  const scene = await open(t, { clock }, (_store, access) => ({
    live: endlessLive,
    recorded: createFootage(access, viewer),
  }))
  Object.assign(viewer, { userId: scene.guest.userId, cameraId: scene.cameraId })
  const port = await scene.api.listen({ host: '127.0.0.1', port: 0 })
  const opened: IncomingMessage[] = []
  t.after(() => {
    for (const message of opened) message.destroy()
  })
  const openPath = (path: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path, ca: scene.identity.cert, agent: false }
      const request = https.request(options, (message) => {
        opened.push(message)
        message.on('error', () => {})
        resolve(message)
      })
      request.on('error', reject).end()
    })
  const read = async (path: string) => {
    const message = await openPath(path)
    assert.equal(message.statusCode, 200, path)
    message.resume()
    await once(message, 'data')
    return message
  }
  const watch = async () => {
    const { body } = await scene.get(`/v1/shared-cameras/${scene.cameraId}/`)
    const urls: string[] = [...body.streams.map(({ url }: { url: string }) => url), body.live_snapshot]
    const live = urls.map((url) => {
      const { pathname, search } = new URL(url)
      return pathname + search
    })
    const recorded = [`/recording/streams/${streamId}/hls/1.mp4`, `/recording/streams/${streamId}/hls/playlist.m3u8`]
    return { live: await read(live[2]!), recorded: await read(recorded[0]!), paths: { live, recorded } }
  }
  return { ...scene, open: openPath, watch }
}

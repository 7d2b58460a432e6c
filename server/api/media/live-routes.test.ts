// Live views over real sockets: who may open them, what is sent, and that access ends in time.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openTemporaryApi } from '../../../test/support/api/temporary-api.ts'
import { addKeeper } from '../../../test/support/store/temporary-store.ts'
import { until } from '../../../test/support/until.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'
import type { LiveView } from '../../model/live-view.ts'
import type { LiveCamera } from '../deps.ts'
import { defaultTimeouts, type Timeouts } from '../transport/timeouts.ts'

type HlsOptions = NonNullable<Parameters<LiveCamera['hlsPlaylist']>[1]>

/** A camera that sends `chunk` forever, as fast as it is read. */
class Camera implements LiveCamera {
  readonly chunk: Uint8Array
  readonly views: LiveView[] = []
  readonly accounts: number[] = []
  readonly waits: (number | undefined)[] = []
  readonly playlists: HlsOptions[] = []
  intervalMs = 0
  open = 0
  sent = 0
  isAway = false
  /** Until its first key frame. */
  keyMs = 0

  constructor(bytes: number) {
    this.chunk = new Uint8Array(bytes).fill(7)
  }

  async *openViewer(
    _format: string,
    { signal, waitMs }: { signal: AbortSignal; waitMs?: number | undefined },
  ): AsyncGenerator<Uint8Array> {
    this.waits.push(waitMs)
    if (this.isAway) throw new AppError('unavailable', 'secret reason')
    this.open++
    try {
      await delay(this.keyMs)
      while (!signal.aborted) {
        this.sent++
        yield this.chunk
        if (this.intervalMs > 0) await delay(this.intervalMs, undefined, { signal }).catch(() => {})
      }
    } finally {
      this.open--
    }
  }

  async *openMseViewer({ hasAudio, signal }: { hasAudio: boolean; signal: AbortSignal }) {
    const codecs = hasAudio ? 'avc1.4d401f,mp4a.40.2' : 'avc1.4d401f'
    for await (const data of this.openViewer('mp4', { signal })) yield { codecs, data }
  }

  openMjpeg({
    signal,
    account,
    ...view
  }: LiveView & { account: number; signal: AbortSignal }): AsyncGenerator<Uint8Array> {
    this.accounts.push(account)
    this.views.push(view)
    return this.openViewer('mjpeg', { signal })
  }

  async snapshot(view: LiveView, { waitMs }: { waitMs?: number | undefined } = {}) {
    this.waits.push(waitMs)
    if (this.isAway) throw new AppError('unavailable', 'secret reason')
    await delay(this.keyMs)
    this.views.push(view)
    return { jpeg: this.chunk, wallMs: 0 }
  }

  async hlsPlaylist(segmentUrl: (name: string) => string, options: HlsOptions = {}) {
    this.waits.push(options.waitMs)
    this.playlists.push(options)
    if (this.isAway) throw new AppError('unavailable', 'secret reason')
    await delay(this.keyMs)
    return `#EXTM3U\n${segmentUrl('7.mp4')}\n`
  }

  async hlsSegment(name: string) {
    if (name !== '7.mp4') throw new AppError('not_found', 'no such segment')
    return this.chunk
  }
}

type WatchOptions = { readonly query?: string; readonly clock?: Clock; readonly timeouts?: Timeouts }

async function watch(t: TestContext, camera: Camera, { query = '', ...options }: WatchOptions = {}) {
  const temporary = await openTemporaryApi(t, { live: { camera: () => camera }, ...options })
  const owner = await temporary.addUser('owner@example.com')
  const cameraId = await temporary.addCamera(owner.userId)
  const port = await temporary.api.listen({ host: '127.0.0.1', port: 0 })
  const read = async () => {
    const { body } = await temporary.api.server.inject({
      url: `/v1/cameras/${cameraId}/${query}`,
      headers: { authorization: owner.authorization },
    })
    return JSON.parse(body)
  }
  const shown = await read()
  const pathOf = (url: string) => new URL(url).pathname + new URL(url).search
  const paths = {
    mjpeg: pathOf(shown.streams[0].url),
    mp4: pathOf(shown.streams[1].url),
    mpegts: pathOf(shown.streams[2].url),
    hls: pathOf(shown.streams[3].url),
    liveSnapshot: pathOf(shown.live_snapshot),
  }
  const get = (path: string, method = 'GET', headers = {}): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path, method, headers, ca: temporary.identity.cert, agent: false }
      https.request(options, resolve).on('error', reject).end()
    })
  return { ...temporary, owner, cameraId, port, paths, get }
}

async function readText(message: IncomingMessage): Promise<string> {
  let text = ''
  for await (const bytes of message) text += bytes
  return text
}

test('a camera with rare key frames is waited for longer than other answers', async (t) => {
  const camera = new Camera(1000)
  camera.keyMs = 1000
  const { get, paths, port, identity } = await watch(t, camera, { timeouts: { ...defaultTimeouts, stallMs: 300 } })
  const session = http2.connect(`https://127.0.0.1:${port}`, { ca: identity.cert })
  t.after(() => session.destroy())
  await Promise.all(
    Object.values(paths).map(async (path) => {
      const response = await get(path)
      assert.equal(response.statusCode, 200, path)
      response.destroy()
      const stream = session.request({ ':path': path })
      const [headers] = await once(stream, 'response')
      assert.equal(headers[':status'], 200, path)
      stream.close()
    }),
  )
})

test('each stream has its content type and is closed when the client disconnects', async (t) => {
  const camera = new Camera(1000)
  camera.intervalMs = 5
  const { get, paths } = await watch(t, camera)
  for (const [path, type] of [
    [paths.mjpeg, 'multipart/x-mixed-replace; boundary=nightjar-frame'],
    [paths.mp4, 'video/mp4'],
    [paths.mpegts, 'video/mp2t'],
  ] as const) {
    const response = await get(path)
    assert.equal(response.statusCode, 200)
    assert.equal(response.headers['content-type'], type)
    assert.equal(response.headers['cache-control'], 'private, no-store')
    assert.equal(response.headers['referrer-policy'], 'no-referrer')
    assert.equal(response.headers['access-control-allow-origin'], '*')
    await once(response, 'data')
    assert.equal(camera.open, 1)
    response.destroy()
    await until(() => camera.open === 0)
    const head = await get(path, 'HEAD')
    assert.deepEqual([head.statusCode, head.headers['content-type'], await readText(head)], [200, type, ''])
    assert.equal(camera.open, 0)
  }
})

test('MJPEG parts have a length and end with the next boundary', async (t) => {
  const camera = new Camera(10)
  camera.intervalMs = 5
  const { get, paths } = await watch(t, camera, { query: '?refresh_rate=2&max_width=320' })
  const response = await get(paths.mjpeg)
  let text = ''
  for await (const bytes of response) {
    text += bytes.toString('latin1')
    if (text.length > 400) break
  }
  const part = `Content-Type: image/jpeg\r\nContent-Length: 10\r\n\r\n${'\x07'.repeat(10)}\r\n--nightjar-frame\r\n`
  assert.ok(text.startsWith(`--nightjar-frame\r\n${part}${part}`))
  assert.deepEqual(camera.views, [{ refreshRate: 2, maxWidth: 320 }])
})

test('a page that asks for tracks is told their codecs and the time of the server', async (t) => {
  const camera = new Camera(1000)
  camera.intervalMs = 5
  const { get, paths } = await watch(t, camera)
  for (const [tracks, type] of [
    ['video', 'video/mp4; codecs="avc1.4d401f"'],
    ['video,audio', 'video/mp4; codecs="avc1.4d401f,mp4a.40.2"'],
    ['none', 'video/mp4'],
  ] as const) {
    const response = await get(`${paths.mp4}&tracks=${tracks}`)
    assert.equal(response.headers['content-type'], type)
    assert.equal('nightjar-clock' in response.headers, tracks !== 'none')
    await once(response, 'data')
    response.destroy()
    await until(() => camera.open === 0)
  }
})

test('images are sent once more to an image element if none follows soon', async (t) => {
  const camera = new Camera(10)
  const { get, paths } = await watch(t, camera)
  const readParts = async (headers: Record<string, string>) => {
    const response = await get(paths.mjpeg, 'GET', headers)
    let text = ''
    for await (const bytes of response) {
      text += bytes.toString('latin1')
      if (camera.sent >= 4) break
    }
    return text.split('Content-Type').length - 1
  }
  camera.intervalMs = 250
  assert.ok((await readParts({ 'sec-fetch-dest': 'image' })) >= 6)
  camera.sent = 0
  assert.ok((await readParts({})) <= 4)
})

/** Waits until nothing is asked for, and returns how many chunks were. */
async function paused(camera: Camera): Promise<number> {
  let sent = -1
  await until(async () => {
    sent = camera.sent
    await delay(300)
    return camera.sent === sent
  })
  return sent
}

test('a client that does not read pauses the stream, in HTTP/1.1 and HTTP/2', async (t) => {
  const camera = new Camera(64 * 1024)
  const { get, paths, port, identity } = await watch(t, camera)
  const response = await get(paths.mp4)
  response.pause()
  await until(() => camera.sent > 1)
  const sent = await paused(camera)
  assert.ok(sent * camera.chunk.length < 16 * 1024 * 1024)
  response.resume()
  await until(() => camera.sent > sent + 10)
  response.destroy()

  const session = http2.connect(`https://127.0.0.1:${port}`, { ca: identity.cert })
  const stream = session.request({ ':path': paths.mp4 })
  await once(stream, 'response')
  const before = await paused(camera)
  stream.on('data', () => {})
  await until(() => camera.sent > before + 10)
  stream.close()
  await until(() => camera.open === 0)
  session.destroy()
})

test('losing access ends open streams and invalidates their URLs', async (t) => {
  for (const lose of ['camera', 'account', 'token'] as const) {
    const camera = new Camera(1000)
    camera.intervalMs = 20
    // No half a minute ever passes, after which access would be checked anyway.
    const clock = { ...systemClock, monotonicMs: () => 0 }
    const { get, paths, store, owner, cameraId } = await watch(t, camera, { clock })
    const response = await get(paths.mpegts)
    response.on('error', () => {})
    response.resume()
    await once(response, 'data')
    await store.users.update(owner.userId, { firstName: 'Eve' })
    if (lose === 'camera') await store.cameras.remove(cameraId)
    await addKeeper(store)
    if (lose === 'account') await store.accounts.change(owner.userId, { isDisabled: true })
    if (lose === 'token') await store.tokens.revoke(owner.tokenId)
    await until(() => response.closed && camera.open === 0)
    for (const path of Object.values(paths)) assert.equal((await get(path)).statusCode, 403, lose)
  }
})

test('T39: a token opens one kind of one camera, unaltered', async (t) => {
  const camera = new Camera(10)
  const { get, paths, cameraId } = await watch(t, camera)
  const [path, token] = paths.liveSnapshot.split('?token=') as [string, string]
  const altered = `${token.slice(0, -3)}${token.at(-3) === 'A' ? 'B' : 'A'}${token.slice(-2)}`
  for (const wrong of [
    path,
    `${path}?token=`,
    `${path}?token=${altered}`,
    `/media/cameras/${cameraId + 1}/live.jpg?token=${token}`,
    `/media/cameras/x/live.jpg?token=${token}`,
    `/media/cameras/${cameraId}/snapshot.jpg?token=${token}`,
    `/media/cameras/${cameraId}/live.mjpeg?token=${token}`,
    `/media/cameras/${cameraId}/hls/7.mp4?token=${token}`,
  ]) {
    const response = await get(wrong)
    assert.equal(response.statusCode, 403, wrong)
    const body = await readText(response)
    assert.equal(JSON.parse(body).title, 'permission_denied')
    assert.equal(response.headers['access-control-allow-origin'], '*')
  }
  const right = await get(`${paths.liveSnapshot}&t=123&max_width=1`)
  assert.deepEqual([right.statusCode, right.headers['content-type']], [200, 'image/jpeg'])
  assert.equal((await get(`${paths.liveSnapshot}&token=zzz`)).statusCode, 200)
  assert.deepEqual(camera.views, [{}, {}], 'extra parameters are ignored')
})

test('an offline camera is a 503 before anything is sent', async (t) => {
  const camera = new Camera(10)
  camera.isAway = true
  const { get, paths } = await watch(t, camera)
  for (const path of [paths.mjpeg, paths.mp4, paths.mpegts, paths.liveSnapshot]) {
    const response = await get(path)
    const body = await readText(response)
    assert.equal(response.statusCode, 503)
    assert.equal(response.headers['retry-after'], '5')
    assert.ok(!body.includes('secret'))
    assert.equal(JSON.parse(body).title, 'unavailable')
  }
})

test('a camera known to be offline is not waited for, and the reason is not revealed through its media URL', async (t) => {
  const camera = new Camera(10)
  const { get, paths, store, cameraId } = await watch(t, camera)
  const detail = 'The camera refused the user name or password (401).'
  await store.cameras.setStatus(cameraId, { status: 'offline', reason: 'auth_failed', detail })
  camera.isAway = true
  for (const path of [paths.mp4, paths.mpegts, paths.hls, paths.liveSnapshot, paths.mjpeg]) {
    const response = await get(path)
    const body = JSON.parse(await readText(response))
    assert.deepEqual([response.statusCode, body.title], [503, 'unavailable'], path)
    assert.equal(body.detail, 'The camera is offline.')
    assert.equal(response.headers['retry-after'], '5')
    assert.equal((await get(path, 'HEAD')).statusCode, 503)
  }
  const [mp4, mpegts, hls, , snapshot] = camera.waits
  assert.ok([mp4, mpegts, hls, snapshot].every((waitMs) => waitMs !== undefined && waitMs <= 1000))
  assert.equal(camera.waits.at(-1), undefined, 'an <img> does not try again')

  // Available data is sent anyway: the status may be a moment old, and an HLS player continues when the camera is back.
  camera.isAway = false
  assert.equal((await get(paths.hls)).statusCode, 200)
  await store.cameras.setStatus(cameraId, { status: 'online' })
  assert.equal((await get(paths.mp4, 'HEAD')).statusCode, 200)
  assert.equal((await get(paths.liveSnapshot)).statusCode, 200)
  assert.equal(camera.waits.at(-1), undefined)
})

test('an HLS playlist passes its token to the segments', async (t) => {
  const { get, paths } = await watch(t, new Camera(10))
  const playlist = await get(paths.hls)
  assert.equal(playlist.headers['content-type'], 'application/vnd.apple.mpegurl')
  const segment = (await readText(playlist)).split('\n')[1]!
  const response = await get(segment)
  assert.deepEqual([response.statusCode, response.headers['content-type']], [200, 'video/mp4'])
  assert.equal((await readText(response)).length, 10)
  assert.equal((await get(segment.replace('7.mp4', '8.mp4'))).statusCode, 404)
})

test('what a low-latency player waits for is passed on, and refused if it is no number', async (t) => {
  const camera = new Camera(10)
  const { get, paths, owner } = await watch(t, camera)
  assert.equal((await get(`${paths.hls}&_HLS_msn=17&_HLS_part=3`)).statusCode, 200)
  assert.equal((await get(`${paths.hls}&_HLS_msn=17`)).statusCode, 200)
  assert.equal((await get(paths.hls)).statusCode, 200)
  const given = camera.playlists.map(({ until, account, signal }) => [until, account, signal !== undefined])
  assert.deepEqual(given, [
    [{ sequence: 17, part: 3 }, owner.userId, true],
    [{ sequence: 17, part: undefined }, owner.userId, true],
    [undefined, undefined, false],
  ])
  for (const query of [
    '_HLS_msn=-1',
    '_HLS_msn=NaN',
    '_HLS_msn=',
    '_HLS_msn=1e3',
    '_HLS_msn=1&_HLS_part=x',
    '_HLS_part=1',
  ]) {
    assert.equal((await get(`${paths.hls}&${query}`)).statusCode, 400, query)
  }
})

test('open streams per viewer are limited without affecting others', async (t) => {
  const camera = new Camera(100)
  camera.intervalMs = 500
  const { paths, port, identity, owner, addUser, store, cameraId, mediaTokens } = await watch(t, camera)
  const sessions = Array.from({ length: 6 }, () => http2.connect(`https://127.0.0.1:${port}`, { ca: identity.cert }))
  t.after(() => sessions.map((session) => session.destroy()))
  const open = async (path: string, connection = 0) => {
    const stream = sessions[connection]!.request({ ':path': path })
    const [headers] = await once(stream, 'response')
    return { stream, status: headers[':status'] as number }
  }
  const opened = await Promise.all(Array.from({ length: 500 }, (_, i) => open(paths.mjpeg, 1 + Math.floor(i / 100))))
  assert.ok(opened.every(({ status }) => status === 200))
  assert.equal((await open(paths.mp4)).status, 503)

  const guest = await addUser('guest@example.com')
  await store.guests.insert({
    cameraId,
    email: 'guest@example.com',
    canViewRecordings: false,
    sharesNotifications: false,
  })
  const credential = { kind: 'personal', id: guest.tokenId } as const
  const token = mediaTokens.sign({ kind: 'mjpeg', cameraId, userId: guest.userId, credential, view: {} })
  assert.equal((await open(`/media/cameras/${cameraId}/live.mjpeg?token=${token}`)).status, 200)
  assert.notEqual(guest.userId, owner.userId)

  opened[0]!.stream.close()
  for (let status = 503; status !== 200; ) status = (await open(paths.mp4)).status
})

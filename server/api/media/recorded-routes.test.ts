import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import type { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { noFootage, openTemporaryApi, publicUrl } from '../../../test/support/api/temporary-api.ts'
import { AppError } from '../../base/error.ts'
import { type Logger, silentLogger } from '../../base/log.ts'
import { BytesBody, JoinedBody, type MediaBody } from '../../playback/media-bytes.ts'
import { createStreamUrls } from '../../playback/stream-urls.ts'
import type { Recorded } from '../deps.ts'
import { defaultTimeouts } from '../transport/timeouts.ts'

const streamId = '0123456789abcdef0123456789abcdef'
const file = Buffer.from('0123456789')

async function openRecorded(t: TestContext) {
  const calls: unknown[][] = []
  const known = (id: string) => {
    if (id !== streamId) throw new AppError('not_found', 'no such stream')
  }
  let open = 0
  const recorded: Recorded = {
    ...noFootage,
    info: async () => ({ recordingStartMs: Date.UTC(2026, 6, 1) + 999, recordingEndMs: Date.UTC(2026, 6, 2) + 1 }),
    timeline: async (...call) => {
      calls.push(call)
      const startMs = Date.UTC(2026, 6, 1, 10)
      return {
        segments: [{ startMs, endMs: startMs + 60_000 }],
        gaps: [{ startMs: startMs + 60_000, endMs: startMs + 90_000, reason: 'camera_unreachable' }],
      }
    },
    createStream: async (request) => {
      calls.push([request])
      if (request.startMs > Date.UTC(2030)) throw new AppError('not_found', 'nothing')
      const { cameraId, startMs, endMs } = request
      const urls = createStreamUrls({ publicUrl, nodeName: 'node' }, streamId)
      return { id: streamId, cameraId, startMs, endMs, urls }
    },
    getStreamInfo: async (id, _userId, nodeName) => {
      known(id)
      if (nodeName !== 'node') throw new AppError('not_found', 'no such node')
      return { currentMs: Date.UTC(2026, 6, 1), positionMs: 1500, speed: 1, state: 'playing' }
    },
    checkAccess: async (id) => {
      known(id)
      return { userId: 1, cameraId: 1 }
    },
    playlist: async (id) => {
      known(id)
      return '#EXTM3U\n'
    },
    openBytes: async (id, name, range) => {
      known(id)
      calls.push([name, range])
      if (range === 'bytes=99-') return { status: 416, totalBytes: file.length }
      const [firstByte, lastByte] = range ? [2, 5] : [0, 9]
      open++
      const bytes = new BytesBody(file.subarray(firstByte, lastByte + 1))
      const body: MediaBody = {
        read: (target) => bytes.read(target),
        async [Symbol.asyncDispose]() {
          open--
        },
      }
      return { status: range ? 206 : 200, firstByte, lastByte, totalBytes: file.length, body }
    },
    play: async (id) => known(id),
    pause: async (id) => known(id),
    setSpeed: async (id, speed) => {
      known(id)
      const reason = 'The speed must be one of 1, 2, 4, 8, 16.'
      if (![1, 4].includes(speed)) throw new AppError('invalid', reason, { fields: { speed: [reason] } })
      calls.push([speed])
    },
  }
  const temporary = await openTemporaryApi(t, { recorded })
  const owner = await temporary.addUser('owner@example.com')
  const cameraId = await temporary.addCamera(owner.userId)
  const send = (method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE', url: string, rest: object = {}) =>
    temporary.api.server.inject({ method, url, ...rest })
  const asOwner = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object) =>
    send(method, `/v1/cameras/${cameraId}/recording/${url}`, {
      headers: { authorization: owner.authorization },
      ...(payload && { payload }),
    })
  return { ...temporary, owner, cameraId, calls, send, asOwner, openFiles: () => open }
}

const media = `/recording/streams/${streamId}`

test('a failure is logged without the secret of the stream', async (t) => {
  const lines: string[] = []
  const note = (fields: unknown) => void lines.push(JSON.stringify(fields))
  const log: Logger = { ...silentLogger, error: note, warn: note, info: note, debug: note, child: () => log }
  const broken = async () => Promise.reject(new Error('the disk is on fire'))
  const { injectUnchecked } = await openTemporaryApi(t, {
    log,
    recorded: { ...noFootage, isActive: () => true, playlist: broken, play: broken },
  })
  const id = '0123456789abcdef0123456789abcdef'
  const base = `/recording/streams/${id}`
  assert.equal((await injectUnchecked({ url: `${base}/hls/playlist.m3u8` })).statusCode, 500)
  assert.equal((await injectUnchecked({ method: 'POST', url: `${base}/play/` })).statusCode, 500)
  assert.equal(lines.length, 2)
  assert.ok(lines.every((line) => line.includes('on fire') && line.includes('/recording/streams/')))
  assert.ok(!lines.join().includes(id))
})

test('recording is turned on, changed and turned off', async (t) => {
  const { asOwner, cameraId, store } = await openRecorded(t)
  for (const url of ['', 'timeline/?start=x', 'stream/']) assert.equal((await asOwner('GET', url)).statusCode, 404)
  assert.equal((await asOwner('PUT', '', { retention: 'P1D' })).statusCode, 404)

  const enabled = await asOwner('POST', '', { retention: 'P7D' })
  assert.equal(enabled.statusCode, 201)
  assert.deepEqual(enabled.json(), {
    id: cameraId,
    active_service_id: enabled.json().active_service_id,
    status: 'READY',
    retention: 'P7D',
    deactivated_at: null,
    recording_start: '2026-07-01T00:00:00Z',
    recording_end: '2026-07-02T00:00:01Z',
    status_reason: null,
    max_bytes: null,
    local_retention: null,
  })
  assert.deepEqual((await asOwner('GET', '')).json(), enabled.json())

  const changed = await asOwner('PUT', '', { max_bytes: 5_000_000_000 })
  assert.deepEqual(
    [changed.statusCode, changed.json().retention, changed.json().max_bytes],
    [200, 'P7D', 5_000_000_000],
  )
  assert.equal((await asOwner('POST', '', { retention: 'P1W' })).json().max_bytes, 5_000_000_000)
  assert.equal((await asOwner('GET', '')).json().retention, 'P1W', 'as it was written')
  assert.equal((await asOwner('POST', '', { retention: 'P7D', max_bytes: null })).json().max_bytes, null)
  await asOwner('PUT', '', { max_bytes: 2 ** 20 })
  assert.equal((await asOwner('PUT', '', { max_bytes: null })).json().max_bytes, null)
  await asOwner('PUT', '', { max_bytes: 2 ** 20 })
  assert.equal((await asOwner('PUT', '', { local_retention: 'P2D' })).json().local_retention, 'P2D')
  assert.equal((await asOwner('POST', '', { retention: 'P7D' })).json().local_retention, 'P2D')
  await store.recordings.setStatus(cameraId, 'ERROR', 'The disk is full.')
  assert.equal((await asOwner('GET', '')).json().status_reason, 'The disk is full.')

  assert.equal((await asOwner('DELETE', '')).statusCode, 204)
  assert.equal((await asOwner('GET', '')).statusCode, 404)
  assert.equal((await asOwner('DELETE', '')).statusCode, 404)
  assert.equal((await asOwner('POST', '', { retention: 'P7D' })).json().max_bytes, null, 'it begins anew')
  await asOwner('DELETE', '')
  for (const [body, field] of [
    [{}, 'retention'],
    [{ retention: '7 days' }, 'retention'],
    [{ retention: 'P0D' }, 'retention'],
    [{ retention: 'P7D', max_bytes: 0 }, 'max_bytes'],
    [{ retention: 'P7D', max_bytes: 2 ** 20 - 1 }, 'max_bytes'],
    [{ retention: 'P7D', max_bytes: 2 ** 53 }, 'max_bytes'],
    [{ retention: 'P7D', max_bytes: 'much' }, 'max_bytes'],
    [{ retention: 'P7D', local_retention: '2 days' }, 'local_retention'],
  ] as const) {
    const response = await asOwner('POST', '', body)
    assert.deepEqual([response.statusCode, Object.keys(response.json().errors)], [400, [field]])
  }
})

test('the timeline returns its range, segments and gaps', async (t) => {
  const { asOwner, calls, cameraId } = await openRecorded(t)
  await asOwner('POST', '', { retention: 'P7D' })
  const response = await asOwner('GET', 'timeline/?start=2026-07-01T12:00:00.5+02:00&end=2026-07-01T10:30')
  assert.equal(response.statusCode, 200)
  assert.deepEqual(calls, [[cameraId, Date.UTC(2026, 6, 1, 10) + 500, Date.UTC(2026, 6, 1, 10, 30)]])
  assert.deepEqual(response.json(), {
    start: '2026-07-01T10:00:00Z',
    end: '2026-07-01T10:30:00Z',
    segments: [{ start: '2026-07-01T10:00:00Z', end: '2026-07-01T10:01:00Z' }],
    gaps: [{ start: '2026-07-01T10:01:00Z', end: '2026-07-01T10:01:30Z', reason: 'camera_unreachable' }],
  })
})

test('invalid times are a 400 that names them, for timeline and stream', async (t) => {
  const { asOwner } = await openRecorded(t)
  await asOwner('POST', '', { retention: 'P7D' })
  const day = 'start=2026-07-01T00:00:00Z'
  const cases: [string, string[]][] = [
    ['timeline/', ['start', 'end']],
    [`timeline/?${day}`, ['end']],
    ['timeline/?start=yesterday&end=2026-07-01', ['start', 'end']],
    [`timeline/?${day}&end=2026-07-02T01:00:01Z`, ['end']],
    [`timeline/?${day}&end=2026-07-01T00:00:00Z`, ['end']],
    [`timeline/?${day}&end=2026-06-01T00:00:00Z`, ['end']],
    ['stream/', ['start']],
    ['stream/?start=', ['start']],
    ['stream/?start=NaN', ['start']],
    [`stream/?${day}&end=soon`, ['end']],
    [`stream/?${day}&end=2026-07-01T00:00:00Z`, ['end']],
  ]
  for (const [url, fields] of cases) {
    const response = await asOwner('GET', url)
    assert.equal(response.statusCode, 400, url)
    assert.equal(response.json().title, 'invalid')
    assert.deepEqual(Object.keys(response.json().errors), fields, url)
  }
  assert.equal((await asOwner('GET', `timeline/?${day}&end=2026-07-02T01:00:00Z`)).statusCode, 200)
})

test('a recorded stream is created and reports its position to its user', async (t) => {
  const { asOwner, send, store, owner, cameraId, calls } = await openRecorded(t)
  await asOwner('POST', '', { retention: 'P7D' })
  const response = await asOwner('GET', 'stream/?start=2026-07-01T10:00:00Z')
  assert.equal(response.statusCode, 200)
  assert.deepEqual(calls, [
    [
      {
        cameraId,
        userId: owner.userId,
        credential: { kind: 'personal', id: owner.tokenId },
        startMs: Date.UTC(2026, 6, 1, 10),
        isRecording: true,
        isWriting: false,
      },
    ],
  ])
  const { format, url, stream_info, stream_controls } = response.json()
  assert.deepEqual([format, url], ['hls', `${publicUrl}${media}/hls/playlist.m3u8`])
  assert.deepEqual(Object.keys(stream_controls), ['base_url', 'play', 'pause', 'speed'])
  assert.equal((await asOwner('GET', 'stream/?start=2031-07-01T10:00:00Z')).statusCode, 404)

  const headers = { authorization: owner.authorization }
  const info = await send('GET', new URL(stream_info).pathname, { headers })
  assert.deepEqual(info.json(), {
    current_time: '2026-07-01T00:00:00Z',
    current_position: 1.5,
    speed: 1,
    state: 'playing',
  })
  assert.equal((await send('GET', '/v1/recording/stream/node/ffff/', { headers })).statusCode, 404)
  assert.equal((await send('GET', `/v1/recording/stream/another/${streamId}/`, { headers })).statusCode, 404)

  calls.length = 0
  await store.recordings.setStatus(cameraId, 'RECORDING')
  await asOwner('GET', 'stream/?start=2026-07-01T10:00:00Z')
  assert.equal((calls[0]![0] as { isWriting: boolean }).isWriting, true)
  await store.recordings.stop(cameraId)
  await asOwner('GET', 'stream/?start=2026-07-01T10:00:00Z')
  assert.deepEqual(
    calls.map(([request]) => (request as { isRecording: boolean }).isRecording),
    [true, false],
  )
})

test('files are sent completely or in ranges, without credentials, and closed afterwards', async (t) => {
  const { api, identity, openFiles } = await openRecorded(t)
  const port = await api.listen({ host: '127.0.0.1', port: 0 })
  const send = async (method: string, path: string, { headers = {} }: { headers?: Record<string, string> } = {}) => {
    const request = https.request({ host: '127.0.0.1', port, ca: identity.cert, agent: false, method, path, headers })
    const [response] = (await once(request.end(), 'response')) as [IncomingMessage]
    let body = ''
    for await (const bytes of response) body += bytes
    return { statusCode: response.statusCode, headers: response.headers, body }
  }
  const playlist = await send('GET', `${media}/hls/playlist.m3u8`)
  assert.deepEqual([playlist.statusCode, playlist.body], [200, '#EXTM3U\n'])
  assert.equal(playlist.headers['content-type'], 'application/vnd.apple.mpegurl')
  assert.equal(playlist.headers['cache-control'], 'private, no-store')
  assert.equal(playlist.headers['access-control-allow-origin'], '*')

  const whole = await send('GET', `${media}/hls/7.mp4`)
  assert.deepEqual([whole.statusCode, whole.body, whole.headers['content-length']], [200, '0123456789', '10'])
  assert.deepEqual([whole.headers['accept-ranges'], whole.headers['content-type']], ['bytes', 'video/mp4'])
  const part = await send('GET', `${media}/hls/7.mp4`, { headers: { range: 'bytes=2-5' } })
  assert.deepEqual([part.statusCode, part.body, part.headers['content-length']], [206, '2345', '4'])
  assert.equal(part.headers['content-range'], 'bytes 2-5/10')
  const head = await send('HEAD', `${media}/hls/7.mp4`)
  assert.deepEqual([head.statusCode, head.body, head.headers['content-length']], [200, '', '10'])
  const wholeHead = await send('HEAD', `${media}/hls/7.mp4`, { headers: { range: 'bytes=2-5' } })
  assert.deepEqual([wholeHead.statusCode, wholeHead.headers['content-length']], [200, '10'])
  for (const validator of ['"x"', 'W/"x"', 'Wed, 21 Oct 2026 07:28:00 GMT', '']) {
    const unknown = await send('GET', `${media}/hls/7.mp4`, { headers: { range: 'bytes=2-5', 'if-range': validator } })
    assert.deepEqual([unknown.statusCode, unknown.body], [200, '0123456789'])
  }
  const past = await send('GET', `${media}/hls/7.mp4`, { headers: { range: 'bytes=99-' } })
  assert.deepEqual([past.statusCode, past.headers['content-range']], [416, 'bytes */10'])
  assert.equal(JSON.parse(past.body).detail, 'No byte of the file is in this range.')
  assert.equal((await send('GET', '/recording/streams/ffff/hls/7.mp4')).statusCode, 404)
  assert.equal((await send('GET', '/recording/streams/ffff/hls/playlist.m3u8')).statusCode, 404)
  assert.equal(openFiles(), 0)
})

test('a file transfer survives a short database outage', async (t) => {
  const asked = Promise.withResolvers<void>()
  let looks = 0
  class LateBody extends BytesBody {
    override async read(target: Uint8Array) {
      await asked.promise
      await new Promise(setImmediate)
      return super.read(target)
    }
  }
  const body = new JoinedBody([new BytesBody(file.subarray(0, 5)), new LateBody(file.subarray(5))])
  const { api, identity, addUser } = await openTemporaryApi(t, {
    recorded: {
      ...noFootage,
      isActive: () => true,
      checkAccess: async () => {
        if (looks++ === 0) return { userId: 1, cameraId: 1 }
        asked.resolve()
        throw new AppError('unavailable', 'the database does not answer')
      },
      openBytes: async () => ({ status: 200, firstByte: 0, lastByte: 9, totalBytes: file.length, body }),
    },
  })
  const port = await api.listen({ host: '127.0.0.1', port: 0 })
  const request = https.get({ host: '127.0.0.1', port, ca: identity.cert, agent: false, path: `${media}/hls/7.mp4` })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  await addUser('somebody@example.com') // whose rights there are may have changed
  let received = ''
  for await (const bytes of response) received += bytes
  assert.equal(received, '0123456789')
})

test('a client that pauses a download gets all of it', async (t) => {
  const totalBytes = 30_000_000
  const mark = 1024
  const markAt = (offset: number) => (offset / mark) % 251
  let at = 0
  const body: MediaBody = {
    async read(target) {
      const bytes = Math.min(target.length, totalBytes - at)
      for (let i = (mark - (at % mark)) % mark; i < bytes; i += mark) target[i] = markAt(at + i)
      at += bytes
      return bytes
    },
    async [Symbol.asyncDispose]() {},
  }
  const { api, identity } = await openTemporaryApi(t, {
    timeouts: { ...defaultTimeouts, stallMs: 300, unreadTimeoutMs: 300, idleMs: 300, checkIntervalMs: 50 },
    recorded: {
      ...noFootage,
      isActive: () => true,
      checkAccess: async () => ({ userId: 1, cameraId: 1 }),
      openBytes: async () => ({ status: 200, firstByte: 0, lastByte: totalBytes - 1, totalBytes, body }),
    },
  })
  const port = await api.listen({ host: '127.0.0.1', port: 0 })
  const read = async (stream: Readable) => {
    let [bytes, pauses] = [0, 0]
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      for (let i = (mark - (bytes % mark)) % mark; i < chunk.length; i += mark) {
        if (chunk[i] !== markAt(bytes + i)) assert.fail(`other bytes at ${bytes + i}`)
      }
      bytes += chunk.length
      if (bytes < (pauses + 1) * 10_000_000) continue
      pauses++
      await sleep(800)
    }
    return bytes
  }
  const request = https.get({ host: '127.0.0.1', port, ca: identity.cert, agent: false, path: `${media}/hls/7.mp4` })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  assert.equal(await read(response), totalBytes)
  at = 0
  const session = http2.connect(`https://127.0.0.1:${port}`, { ca: identity.cert })
  assert.equal(await read(session.request({ ':path': `${media}/hls/7.mp4` })), totalBytes)
  session.close()
})

test('the controls answer 204 to POST', async (t) => {
  const { send, calls } = await openRecorded(t)
  for (const name of ['play', 'pause']) {
    for (const slash of ['/', '']) {
      const response = await send('POST', `${media}/${name}${slash}`)
      assert.deepEqual([response.statusCode, response.body], [204, ''])
      assert.equal(response.headers['access-control-allow-origin'], '*')
    }
    assert.equal((await send('GET', `${media}/${name}/`)).statusCode, 405)
    assert.equal((await send('POST', `/recording/streams/ffff/${name}/`)).statusCode, 404)
  }
  assert.equal((await send('POST', `${media}/speed/`, { payload: { speed: 1 } })).statusCode, 204)
  assert.equal((await send('POST', `${media}/speed/?speed=4`)).statusCode, 204)
  assert.equal((await send('POST', `${media}/speed/?lens_speed=1`, { payload: { speed: 4 } })).statusCode, 204)
  assert.deepEqual(calls, [[1], [4], [4]])
  assert.equal(
    (await send('POST', `${media}/play/`, { payload: 'x', headers: { 'content-type': ';;' } })).statusCode,
    204,
  )
  assert.equal((await send('POST', `${media}/speed/`)).statusCode, 204)
  const fast = await send('POST', `${media}/speed/`, { payload: { speed: 3 } })
  assert.equal(fast.statusCode, 400)
  assert.deepEqual(fast.json().errors, { speed: ['The speed must be one of 1, 2, 4, 8, 16.'] })
  assert.equal(fast.json().detail, 'speed: The speed must be one of 1, 2, 4, 8, 16.')
  assert.equal((await send('POST', `${media}/speed/?speed=fast`)).statusCode, 400)
  assert.equal((await send('POST', '/recording/streams/ffff/speed/')).statusCode, 404)
})

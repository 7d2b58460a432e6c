// Downloading a range over real sockets, as browsers and download programs do.

import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { FootageScene } from '../../../test/playback/footage-scene.ts'
import { openTemporaryApi, publicUrl } from '../../../test/support/api/temporary-api.ts'
import { syntheticStartMs } from '../../../test/support/media/synthetic-frames.ts'

type Sent = { readonly method?: string; readonly headers?: Record<string, string> }

async function openDownload(t: TestContext) {
  const scene = new FootageScene()
  t.after(() => scene[Symbol.asyncDispose]())
  // About 18 MB, which exceeds the buffers on the way to a slow client.
  await scene.record(0, 20, { width: 640, height: 480 })
  await scene.lose('camera_unreachable')
  await scene.record(60, 80, { width: 640, height: 480 })
  await scene.stop()
  const temporary = await openTemporaryApi(t, {}, (store, access) => ({
    recorded: scene.playback({
      publicUrl,
      streams: store.streams,
      canView: (userId, cameraId) => access.canViewRecordings(userId, cameraId),
    }),
  }))
  const { api, store, identity } = temporary
  const owner = await temporary.addUser('owner@example.com')
  const cameraId = await temporary.addCamera(owner.userId)
  await store.recordings.enable(cameraId, { retention: 'P7D', maxBytes: null })
  const port = await api.listen({ host: '127.0.0.1', port: 0 })
  const time = (seconds: number) => new Date(syntheticStartMs + seconds * 1000).toISOString()
  const range = `start=${time(5)}&end=${time(75)}`
  const ask = async (authorization: string, path: string) => {
    const response = await api.server.inject({ url: path, headers: { authorization } })
    assert.equal(response.statusCode, 200, response.body)
    const { pathname, search } = new URL(response.json().url)
    return pathname + search
  }
  const path = await ask(
    owner.authorization,
    `/v1/cameras/${cameraId}/recording/download/?${range}&filename=${encodeURIComponent('Tür "1".mp4')}`,
  )
  const open = (path: string, { method = 'GET', headers = {} }: Sent = {}): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path, ca: identity.cert, agent: false, method, headers }
      https.request(options, resolve).on('error', reject).end()
    })
  const send = async (sent: Sent = {}) => {
    const response = await open(path, sent)
    return { status: response.statusCode, headers: response.headers, body: await readAll(response) }
  }
  return { ...temporary, owner, cameraId, range, ask, path, open, send }
}

async function readAll(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return Buffer.concat(chunks)
}

test('downloads', async (t) => {
  const { store, ask, addUser, cameraId, range, path, open, send } = await openDownload(t)
  const whole = await send()

  await t.test('a download tells its size, its name and that it can be resumed, by HEAD as by GET', async () => {
    const { headers } = whole
    assert.equal(whole.status, 200)
    assert.equal(headers['content-type'], 'video/mp4')
    assert.equal(headers['accept-ranges'], 'bytes')
    assert.match(headers.etag!, /^"[^"]+"$/)
    assert.equal(
      headers['content-disposition'],
      `attachment; filename="T_r _1_.mp4"; filename*=UTF-8''T%C3%BCr%20%221%22.mp4`,
    )
    assert.equal(Number(headers['content-length']), whole.body.length)
    assert.equal(whole.body.toString('latin1', 4, 8), 'ftyp')
    const head = await send({ method: 'HEAD' })
    assert.equal(head.status, 200)
    assert.equal(head.body.length, 0)
    for (const name of ['content-length', 'content-type', 'content-disposition', 'etag', 'accept-ranges'])
      assert.equal(head.headers[name], headers[name], name)
    const headOfRange = await send({ method: 'HEAD', headers: { range: 'bytes=0-9' } })
    assert.deepEqual([headOfRange.status, headOfRange.headers['content-length']], [200, headers['content-length']])
  })

  await t.test('any range is that of the whole, a range of nothing is refused', async () => {
    const { body } = whole
    const size = body.length
    for (const [range, first, last] of [
      ['bytes=0-0', 0, 0],
      ['bytes=100-5000', 100, 5000],
      [`bytes=${size - 7}-`, size - 7, size - 1],
      ['bytes=-1000', size - 1000, size - 1],
      [`bytes=5-${size * 9}`, 5, size - 1],
    ] as const) {
      const part = await send({ headers: { range } })
      assert.equal(part.status, 206, range)
      assert.equal(part.headers['content-range'], `bytes ${first}-${last}/${size}`)
      assert.ok(part.body.equals(body.subarray(first, last + 1)), range)
    }
    const beyond = await send({ headers: { range: `bytes=${size}-` } })
    assert.deepEqual([beyond.status, beyond.headers['content-range']], [416, `bytes */${size}`])
    for (const range of ['bytes=9-1', 'lines=1-2', 'bytes=0-1,5-6']) {
      const all = await send({ headers: { range } })
      assert.deepEqual([all.status, all.body.length], [200, size], range)
    }
  })

  await t.test(
    'a download that was broken off is resumed with If-Range, and begun anew when it is another file',
    async () => {
      const etag = whole.headers.etag!
      // Aborted by the client after a part of it.
      const response = await open(path)
      const chunks: Buffer[] = []
      let bytes = 0
      for await (const chunk of response) {
        chunks.push(chunk)
        bytes += chunk.length
        if (bytes > whole.body.length / 3) break
      }
      const rest = await send({ headers: { range: `bytes=${bytes}-`, 'if-range': etag } })
      assert.equal(rest.status, 206)
      assert.equal(rest.headers.etag, etag)
      assert.ok(Buffer.concat([...chunks, rest.body]).equals(whole.body))
      for (const other of ['"another"', `W/${etag}`, 'Sat, 21 Nov 2026 07:00:00 GMT']) {
        const again = await send({ headers: { range: `bytes=${bytes}-`, 'if-range': other } })
        assert.deepEqual([again.status, again.body.length], [200, whole.body.length], other)
      }
      const kept = await send({ headers: { range: 'bytes=0-9', 'if-range': etag } })
      assert.equal(kept.body.length, 10)
    },
  )

  await t.test('whoever has the file is told so, whatever range was asked for', async () => {
    const etag = whole.headers.etag!
    for (const known of [etag, `"another", W/${etag}`, '*']) {
      for (const headers of [{}, { range: 'bytes=0-9' }, { range: `bytes=${whole.body.length}-` }]) {
        const { status, body, headers: answered } = await send({ headers: { ...headers, 'if-none-match': known } })
        assert.deepEqual([status, body.length, answered.etag], [304, 0, etag])
      }
    }
    const other = await send({ headers: { 'if-none-match': '"another"', range: 'bytes=0-9' } })
    assert.deepEqual([other.status, other.body.length], [206, 10])
  })

  await t.test('a guest whose right is taken away in between gets no more, and the owner goes on', async () => {
    const guest = await addUser('guest@example.com')
    const permissions = { canViewRecordings: true, sharesNotifications: false }
    const invited = await store.guests.insert({ cameraId, email: 'guest@example.com', ...permissions })
    const shared = await ask(guest.authorization, `/v1/shared-cameras/${cameraId}/recording/download/?${range}`)
    const first = await open(shared, { headers: { range: 'bytes=0-99' } })
    assert.equal((await readAll(first)).length, 100)
    const watching = open(shared).then(async (response) => {
      let bytes = 0
      try {
        for await (const chunk of response) {
          bytes += chunk.length
          await delay(20)
        }
      } catch {
        return { isWhole: false, bytes }
      }
      return { isWhole: bytes === Number(response.headers['content-length']), bytes }
    })
    await delay(200)
    await store.guests.remove(cameraId, invited.id)
    const refused = await open(shared, { headers: { range: 'bytes=100-199' } })
    refused.resume()
    assert.equal(refused.statusCode, 404)
    assert.equal((await watching).isWhole, false, 'cut off while it was sent')
    assert.equal((await send({ headers: { range: 'bytes=0-99' } })).status, 206)
  })
})

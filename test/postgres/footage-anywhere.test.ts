// Footage in a bucket is played by every server of the database, whether the one with the cameras is there or not; each
// recorded stream by the server that its URLs name, or by the one with the cameras when that is gone.

import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Camera } from '../../contract/camera.ts'
import type { RecordedStream, Recording, StreamInfo, Timeline } from '../../contract/recording.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { createLoadStreams } from '../fake-camera/source/stream-options.ts'
import { beginNewFiles } from '../integration/recorded-files.ts'
import { checkPlaylist } from '../playback/check-playlist.ts'
import { openS3Store, whyNoStore } from '../s3/s3-store.ts'
import { eventually, openAnsweringServer, openServerHere, type ServerUnderTest } from '../server-under-test.ts'
import { findOwnPort } from '../support/own-port.ts'
import { testPostgres } from './each-database.ts'

const video = { width: 320, height: 180, framesPerSecond: 15, gopFrames: 15, loopSeconds: 4, bitsPerSecond: 300_000 }

testPostgres('every server plays what is in the bucket', async (t, postgres) => {
  const why = whyNoStore()
  if (why) return t.skip(String(why))
  const store = await openS3Store()
  t.after(() => store[Symbol.asyncDispose]())
  Object.assign(process.env, store.environment)
  process.env.NIGHTJAR_DATABASE = await postgres.createDatabase()
  t.after(() => delete process.env.NIGHTJAR_DATABASE)
  const streams = createLoadStreams(1, video)
  const source = await openFakeCamera({ streams })
  t.after(() => source[Symbol.asyncDispose]())
  const asked = async () => ['--peer-address', `127.0.0.1:${await findOwnPort()}`]
  const first = await openServerHere('--node-name', 'n1', '--min-free', '0', ...(await asked()))
  t.after(() => first[Symbol.asyncDispose]())
  const id = await first.addCamera('Door', source.url(streams[0]!.name), '--record', 'P1D')
  const path = `/v1/cameras/${id}/recording/`
  const recordings = async () => [(await first.request<Recording>(path)).json]
  await eventually('footage', 30_000, async () => (await recordings())[0]!.status === 'RECORDING')
  await first.command('place', 'add', store.url('shop'))
  await beginNewFiles({ source, recordings }, 3)
  const countLocal = async () => {
    const names = await readdir(join(first.dataDir, 'archive', 'cameras'), { recursive: true })
    return names.filter((each) => each.endsWith('.mp4')).length
  }
  await eventually('only the open file is local', 30_000, async () => (await countLocal()) <= 1)
  const second = await openAnsweringServer(first, '--node-name', 'n2', ...(await asked()))
  t.after(() => second[Symbol.asyncDispose]())
  const third = await openAnsweringServer(first, '--node-name', 'n3', ...(await asked()))
  t.after(() => third[Symbol.asyncDispose]())

  const time = (ms: number) => new Date(ms).toISOString()
  const { json: timeline } = await second.request<Timeline>(
    `${path}timeline/?start=${time(Date.now() - 600_000)}&end=${time(Date.now())}`,
  )
  const startMs = Date.parse(timeline.segments[0]!.start)
  // Within the first two files.
  const range = `start=${time(startMs)}&end=${time(startMs + 4000)}`
  const create = async (server: ServerUnderTest, of = range) => {
    const { status, json, text } = await server.request<RecordedStream>(`${path}stream/?${of}`)
    assert.equal(status, 200, text)
    return json
  }
  const get = (server: ServerUnderTest, url: string) => {
    const { pathname, search } = new URL(url)
    return server.request(pathname + search, { authorization: null })
  }
  /** How many seconds are played, every file of them through this server. */
  const play = async (server: ServerUnderTest, { url }: { url: string }) => {
    const listed = await get(server, url)
    assert.equal(listed.status, 200, listed.text)
    const { entries } = checkPlaylist(listed.text)
    assert.ok(entries.length > 0)
    for (const file of new Set(entries.map(({ uri }) => new URL(uri, url).href)))
      assert.equal((await get(server, file)).status, 200)
    return entries.reduce((sum, { seconds }) => sum + seconds, 0)
  }

  const stream = await create(second)
  assert.match(stream.url, /\/at\/n2\/recording\/streams\//)
  const seconds = await play(second, stream)
  for (const server of [first, third]) assert.equal(await play(server, stream), seconds, 'handed on')
  for (const server of [first, second, third]) {
    const { pathname } = new URL(stream.stream_info)
    // Servers learn of a new one within two seconds.
    await eventually('information', 5000, async () => (await server.request<StreamInfo>(pathname)).status === 200)
  }
  const { json: download } = await second.request<{ url: string }>(`${path}download/?${range}`)
  const whole = await get(second, download.url)
  assert.deepEqual([whole.status, whole.headers['content-type']], [200, 'video/mp4'])
  assert.equal((await get(first, download.url)).headers.etag, whole.headers.etag)

  // The newest file is where the cameras are, and live video too.
  const newest = await create(second, `start=${time(Date.now() - 2000)}&end=${time(Date.now())}`)
  assert.match(newest.url, /\/at\/n1\//)
  assert.ok((await play(third, newest)) > 0)
  const { json: camera } = await second.request<Camera>(`/v1/cameras/${id}/`)
  assert.match(camera.live_snapshot, /\/at\/n1\/media\//)
  for (const server of [first, second]) assert.equal((await get(server, camera.live_snapshot)).status, 200)

  // A server is gone, and what it has played goes on at the one with the cameras.
  const left = await create(third)
  assert.equal(await play(second, left), seconds)
  await third[Symbol.asyncDispose]()
  assert.equal(await eventually('another plays it', 15_000, () => play(second, left).catch(() => undefined)), seconds)
  assert.equal((await second.request(new URL(left.stream_info).pathname)).status, 200)

  // The one with the cameras is gone.
  await first[Symbol.asyncDispose]()
  assert.equal(await play(second, stream), seconds)
  assert.equal(await play(second, await create(second)), seconds)
  const away = await second.request(`${path}stream/?start=${time(Date.now() - 2000)}`)
  assert.deepEqual([away.status, away.headers['retry-after'] !== undefined], [503, true], away.text)
})

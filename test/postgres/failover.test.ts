// Two servers that share cameras: one is killed, or sleeps, and the other one records all of them.

import assert from 'node:assert/strict'
import { request } from 'node:https'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Camera } from '../../contract/camera.ts'
import type { Timeline } from '../../contract/recording.ts'
import type { ServerState } from '../../contract/server.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServer, openServerBeside, type ServerProcess } from '../server-under-test.ts'
import { findOwnPort } from '../support/own-port.ts'
import { testPostgres } from './each-database.ts'
import type { TemporaryPostgres } from './temporary-postgres.ts'

const names = ['a', 'b', 'c', 'd', 'e', 'f']
const video = { width: 320, height: 180, gopFrames: 15, framesPerSecond: 15, loopSeconds: 4 }

type File = { readonly camera_id: string; readonly start_ms: string; readonly end_ms: string; readonly path: string }

async function openScene(t: TestContext, postgres: TemporaryPostgres) {
  const source = await openFakeCamera({ streams: names.map((name) => ({ name, ...video })) })
  t.after(() => source[Symbol.asyncDispose]())
  const database = await postgres.createDatabase()
  process.env.NIGHTJAR_DATABASE = database
  t.after(() => delete process.env.NIGHTJAR_DATABASE)
  const options = async (name: string) => {
    const port = await findOwnPort()
    return ['--node-name', name, '--peer-address', `127.0.0.1:${port}`, '--outage-seconds', '2', '--min-free', '0']
  }
  await using opened = new AsyncDisposableStack()
  const first = opened.use(await openServer(...(await options('n1'))))
  const second = opened.use(await openServerBeside(first, ...(await options('n2'))))
  // The second one first, which may have the folder of the other one by then.
  const owned = opened.move()
  t.after(() => owned.disposeAsync())
  const ids: number[] = []
  for (const name of names) ids.push(await first.addCamera(name, source.url(name), '--record', 'P1D'))
  const listOwners = async () => {
    const rows = await postgres.query<{ camera_id: string; node: string }>(
      "select camera_id, node from camera_leases where incarnation <> ''",
      database,
    )
    return new Map(rows.map((row) => [Number(row.camera_id), row.node]))
  }
  const readTimeline = async (server: ServerProcess, id: number) => {
    const time = (ms: number) => new Date(ms).toISOString()
    const query = `start=${time(Date.now() - 600_000)}&end=${time(Date.now() + 10_000)}`
    const { status, json } = await server.request<Timeline>(`/v1/cameras/${id}/recording/timeline/?${query}`)
    return status === 200 ? json : undefined
  }
  const isRecordedSince = (server: ServerProcess, sinceMs: number) => async () => {
    for (const id of ids) {
      const timeline = await readTimeline(server, id)
      if (!timeline?.segments.some(({ end }) => Date.parse(end) > sinceMs)) return false
    }
    return true
  }
  /** Of each camera, no two files show the same time. */
  const checkFiles = async () => {
    const files = await postgres.query<File>(
      'select camera_id, start_ms, end_ms, path from segments where is_closed = 1 order by camera_id, start_ms',
      database,
    )
    for (const [i, file] of files.entries()) {
      const next = files[i + 1]
      if (next?.camera_id !== file.camera_id) continue
      const lateMs = Number(file.end_ms) - Number(next.start_ms)
      assert.ok(lateMs <= 50, `${file.path} ends ${lateMs} ms after the start of ${next.path}`)
    }
    return files
  }
  await eventually('both servers have cameras', 20_000, async () => {
    const owners = await listOwners()
    return owners.size === ids.length && new Set(owners.values()).size === 2
  })
  for (const server of [first, second])
    await eventually('all are recorded', 30_000, isRecordedSince(server, Date.now()))
  const ofFirst = [...(await listOwners())].flatMap(([id, node]) => (node === 'n1' ? [id] : []))
  return { first, second, ids, ofFirst, listOwners, readTimeline, isRecordedSince, checkFiles }
}

/** A viewer of MJPEG, who counts images. */
function watchImages({ url, ca }: ServerProcess, { pathname, search }: URL) {
  let count = 0
  let isEnded = false
  const asked = request(new URL(pathname + search, url), { ca, agent: false }, (response) => {
    response.on('data', (bytes: Buffer) => {
      if (bytes.includes('Content-Type: image/jpeg')) count++
    })
    response.on('close', () => {
      isEnded = true
    })
  })
  asked.on('error', () => {})
  asked.end()
  return {
    get count() {
      return count
    },
    get isEnded() {
      return isEnded
    },
    [Symbol.dispose]: () => void asked.destroy(),
  }
}

testPostgres('a server is killed, and another one records its cameras until it is back', async (t, postgres) => {
  const { first, second, ids, ofFirst, listOwners, readTimeline, isRecordedSince, checkFiles } = await openScene(
    t,
    postgres,
  )
  const { streams } = (await second.request<Camera>(`/v1/cameras/${ofFirst[0]}/`)).json
  const urlOf = (kind: string) => new URL(streams.find(({ format }) => format === kind)!.url)
  using images = watchImages(second, urlOf('mjpeg'))
  const hlsUrl = urlOf('hls')
  const readSequence = async () => {
    const { status, text } = await second.request(hlsUrl.pathname + hlsUrl.search, { authorization: null })
    return status === 200 ? Number(/#EXT-X-MEDIA-SEQUENCE:(\d+)/.exec(text)![1]) : undefined
  }
  const sequence = await eventually('HLS', 20_000, readSequence)
  await eventually('images', 20_000, async () => images.count > 1)
  await first.kill()
  const killedMs = Date.now()
  const path = `/v1/cameras/${ofFirst[0]}/recording/timeline/?start=0&end=1`
  assert.equal((await second.request(path)).status, 503, 'nobody knows what was recorded last')
  assert.equal((await second.request(path, { authorization: null })).status, 401, 'strangers learn nothing')
  const enabling = { method: 'POST', body: { retention: 'P1D' } }
  const recordingPath = `/v1/cameras/${ofFirst[0]}/recording/`
  assert.equal((await second.request(recordingPath, enabling)).status, 503)
  assert.equal((await second.request(recordingPath, { ...enabling, authorization: null })).status, 401)
  const unsigned = await second.request(hlsUrl.pathname, { authorization: null })
  assert.notEqual(unsigned.status, 503, 'strangers learn nothing')
  await eventually('the second one records all', 60_000, isRecordedSince(second, killedMs + 2000))
  assert.deepEqual(new Set((await listOwners()).values()), new Set(['n2']))
  // Of the viewers, those of HLS go on with later segments, and those of images on the same connection.
  const seen = images.count
  await eventually('images go on', 20_000, async () => images.count > seen + 2)
  await eventually('HLS goes on', 20_000, async () => ((await readSequence()) ?? 0) > sequence)
  t.diagnostic(`recorded again ${Date.now() - killedMs} ms after the end of the first server`)
  await first.start()
  await eventually('what the first one had recorded is listed', 30_000, async () => {
    const timelines = await Promise.all(ofFirst.map((id) => readTimeline(second, id)))
    return timelines.every((timeline) => {
      const before = timeline?.segments.filter(({ start }) => Date.parse(start) < killedMs).at(-1)
      return before && Date.parse(before.end) > killedMs - 5000
    })
  })
  for (const id of ofFirst) {
    const { gaps } = (await readTimeline(second, id))!
    assert.deepEqual(
      gaps.filter(({ end }) => Date.parse(end) > killedMs).map(({ reason }) => reason),
      ['node_lost'],
      JSON.stringify(gaps),
    )
  }
  await eventually(
    'the first one has cameras again',
    90_000,
    async () => new Set((await listOwners()).values()).size === 2,
  )
  await eventually('all are recorded by both', 60_000, isRecordedSince(first, Date.now()))
  // An address from before a camera was moved leads to it all the same.
  const moved = ofFirst[0]!
  const { live_snapshot: snapshot } = (await second.request<Camera>(`/v1/cameras/${moved}/`)).json
  const [from, to] = (await listOwners()).get(moved) === 'n1' ? ['n1', 'n2'] : ['n2', 'n1']
  assert.match(snapshot, new RegExp(`/at/${from}/`))
  await first.command('camera', 'place', String(moved), '--node', to!)
  await eventually('it is moved', 30_000, async () => (await listOwners()).get(moved) === to)
  const seenLast = images.count
  await eventually('images go on again', 20_000, async () => images.count > seenLast + 2)
  assert.equal(images.isEnded, false)
  for (const server of [first, second])
    await eventually('its image', 20_000, async () => {
      const { pathname, search } = new URL(snapshot)
      return (await server.request(pathname + search, { authorization: null })).status === 200
    })
  // What the first one has recorded, and has in its folder, is played by the second one.
  const other = ofFirst.at(-1)!
  await first.command('camera', 'place', String(other), '--node', 'n2')
  await eventually('the second one has it', 30_000, async () => {
    for (const server of [first, second]) assert.ok(await readTimeline(server, other), 'it is answered all the time')
    return (await listOwners()).get(other) === 'n2'
  })
  const { servers } = (await first.request<ServerState>('/v1/server/')).json
  // Both cameras that ask for a server have it.
  const named = servers.map(({ cameras_by }) => cameras_by.name).reduce((sum, count) => sum + count)
  assert.equal(named, new Set([moved, other]).size)
  const time = (ms: number) => new Date(ms).toISOString()
  const range = `start=${time(killedMs - 4000)}&end=${time(killedMs - 2000)}`
  const download = async (server: ServerProcess) => {
    const path = `/v1/cameras/${other}/recording/download/?${range}`
    const made = await eventually('a download', 20_000, async () => {
      const answer = await server.request<{ url: string }>(path)
      return answer.status === 200 && answer.json
    })
    const { pathname, search } = new URL(made.url)
    const { status, bytes } = await server.request(pathname + search, { authorization: null })
    assert.equal(status, 200)
    return bytes.length
  }
  const lengths = [await download(first), await download(second)]
  assert.ok(lengths[0]! > 10_000 && lengths[0] === lengths[1], String(lengths))
  await checkFiles()
  // What was given over in order has hardly a gap.
  const owners = await listOwners()
  for (const id of ids.filter((id) => owners.get(id) === 'n1')) {
    const { gaps } = (await readTimeline(first, id))!
    for (const { start, end } of gaps.slice(1))
      assert.ok(Date.parse(end) - Date.parse(start) < 5000, JSON.stringify(gaps))
  }
  // Its machine will not come back, and its disk is put into the other one.
  const ofFirstLast = [...owners].flatMap(([id, node]) => (node === 'n1' ? [id] : []))
  await first.kill()
  const lostMs = Date.now()
  const disk = join(first.dataDir, 'archive')
  await eventually('its folder is taken', 40_000, () =>
    first.command('place', 'add', disk, '--node-name', 'n2').then(
      () => true,
      () => false,
    ),
  )
  await eventually('what it had begun is listed', 60_000, async () => {
    const timelines = await Promise.all(ofFirstLast.map((id) => readTimeline(second, id)))
    return timelines.every((timeline) => {
      const before = timeline?.segments.filter(({ start }) => Date.parse(start) < lostMs).at(-1)
      return before && Date.parse(before.end) > lostMs - 3000
    })
  })
  assert.equal(await download(second), lengths[0])
  await checkFiles()
})

testPostgres('a server that slept for a while changes nothing any more', async (t, postgres) => {
  const { first, second, ofFirst, isRecordedSince, checkFiles } = await openScene(t, postgres)
  process.kill(first.pid, 'SIGSTOP')
  const sleptMs = Date.now()
  await eventually('the second one records all', 60_000, isRecordedSince(second, sleptMs + 5000))
  process.kill(first.pid, 'SIGCONT')
  await eventually('the first one has noticed', 20_000, async () =>
    first.log().includes('other servers have taken cameras of this one'),
  )
  await eventually('its files are in the index', 30_000, async () => {
    const files = await checkFiles()
    return ofFirst.every((id) => files.some((file) => Number(file.camera_id) === id && Number(file.start_ms) < sleptMs))
  })
  await eventually('all are recorded', 30_000, isRecordedSince(first, Date.now() + 1000))
  assert.equal(await second.stop(), 0)
  await eventually('the first one has all', 60_000, isRecordedSince(first, Date.now() + 1000))
  await checkFiles()
})

// After a crash with many open files, the next server responds and records at once and repairs the files in the
// background. What a camera has kept of before is not recorded twice.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { constants, existsSync } from 'node:fs'
import { mkdir, open, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Recording, Timeline } from '../../contract/recording.ts'
import { segmentPath } from '../../server/archive/layout.ts'
import { openSecretKey } from '../../server/auth/secret-key.ts'
import { databaseFile } from '../../server/store/engine/database-file.ts'
import { openStore } from '../../server/store/store.ts'
import { openHttpReader } from '../audit/http-reader.ts'
import { playRecording } from '../audit/play-recording.ts'
import { readTimeline } from '../audit/read-timeline.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServer, openServerWith, type ServerUnderTest } from '../server-under-test.ts'

type Health = { status: string; repair?: { pending_files: number; repaired_files: number; failed_files: number } }
type Storage = { server: { repair: Health['repair'] | null } }

const openFiles = 300

/** Inserts rows of open files. The newest simulates a disk on which a read takes forever. */
async function leaveOpenFiles(dataDir: string, cameraId: number): Promise<string> {
  const credentialsKey = (await openSecretKey(dataDir)).deriveKey('camera credentials')
  await using store = await openStore({ database: databaseFile(dataDir), credentialsKey })
  const nowMs = Date.now()
  let path = ''
  for (let i = openFiles - 1; i >= 0; i--) {
    path = segmentPath(cameraId, nowMs - i * 60_000)
    await store.segments.insertOpen({
      ...{ cameraId, path, startMs: nowMs - i * 60_000, runId: `run ${i}`, runStart90k: 0, placeId: 1, initBytes: 500 },
      ...{ codecs: 'avc1.42c01e', width: 64, height: 48, initHash: '', gapReason: undefined },
    })
  }
  const pipe = join(dataDir, 'archive', path)
  await mkdir(dirname(pipe), { recursive: true })
  execFileSync('mkfifo', [pipe])
  return pipe
}

/** Ends the read of the pipe, which then has no content. */
async function release(pipe: string): Promise<void> {
  await open(pipe, constants.O_WRONLY | constants.O_NONBLOCK).then(
    (file) => file.close(),
    () => {},
  )
}

const readHealth = async (server: ServerUnderTest) =>
  (await server.request<Health>('/healthz', { authorization: null })).json

test('a server with hundreds of open files to repair answers and records before the first is repaired', async (t) => {
  const source = await openFakeCamera({ streams: [{ name: 'yard', width: 320, height: 180, gopFrames: 15 }] })
  const server = await openServer()
  let pipe = ''
  t.after(async () => {
    if (pipe) await release(pipe)
    await server[Symbol.asyncDispose]()
    await source[Symbol.asyncDispose]()
  })
  const body = { name: 'Yard', url: source.url('yard') }
  const { id } = (await server.request<{ id: number }>('/v1/cameras/', { method: 'POST', body })).json
  await server.request(`/v1/cameras/${id}/recording/`, { method: 'POST', body: { retention: 'P1D' } })
  const readRecording = async () => (await server.request<Recording>(`/v1/cameras/${id}/recording/`)).json
  await eventually('footage', 30_000, async () => (await readRecording()).recording_end !== null)
  await server.kill()
  const killedMs = Date.now()
  pipe = await leaveOpenFiles(server.dataDir, id)
  // Up to a second without footage is no gap, and a fast machine needs less.
  await sleep(2000)

  await server.start()
  const health = await readHealth(server)
  assert.deepEqual([health.status, health.repair!.repaired_files, health.repair!.failed_files], ['ok', 0, 0])
  assert.ok(health.repair!.pending_files > openFiles, `${health.repair!.pending_files} files wait`)
  await eventually('footage of this run', 40_000, async () => {
    const { status, recording_end: end } = await readRecording()
    return status === 'RECORDING' && end !== null && Date.parse(end) > killedMs + 1000
  })
  // The repair has been stuck at its first file all this time, and owners can see that.
  const { server: storage } = (await server.request<Storage>('/v1/me/storage/')).json
  assert.ok(storage.repair!.pending_files > 0)
  assert.ok((await readHealth(server)).repair!.pending_files > 0)

  await release(pipe)
  await eventually('the repair is done', 60_000, async () => (await readHealth(server)).repair === undefined)
  const range = `start=${new Date(killedMs - 60_000).toISOString()}&end=${new Date(Date.now() - 1000).toISOString()}`
  const { json } = await server.request<Timeline>(`/v1/cameras/${id}/recording/timeline/?${range}`)
  assert.ok(Date.parse(json.segments[0]!.start) < killedMs, 'footage from before the crash is listed')
  assert.ok(
    json.gaps.some(({ reason }) => reason === 'server_down'),
    JSON.stringify(json),
  )
  const check = await server.command<{ ok: boolean }>('check', '--deep')
  assert.equal(check.ok, true)
})

test('a camera that begins with its last group of pictures is not recorded twice by the next server or worker', async () => {
  const gopFrames = 80
  let newest = 0
  await using camera = await openFakeCamera({
    streams: [
      {
        ...{ name: 'yard', scene: 'yard', width: 320, height: 180, framesPerSecond: 10 },
        ...{ gopFrames, keepsGroup: true, stampsTrueTime: true },
      },
    ],
    onSent: (_, { frameNumber }) => (newest = frameNumber),
  })
  const order = join(tmpdir(), `nightjar-die-${process.pid}`)
  const program = new URL('../audit/die-on-order.ts', import.meta.url).href
  const environment = { NODE_OPTIONS: `--import=${program}`, NIGHTJAR_AUDIT_DEATH: order }
  await using server = await openServerWith(environment)
  using http = openHttpReader(server)
  const id = await server.addCamera('Yard', camera.url('yard'), '--record', 'P1D')
  const readRecording = () => http.getJson<Recording>(`/v1/cameras/${id}/recording/`)
  const untilFootageOf = (ms: number) =>
    eventually('footage', 60_000, async () => Date.parse((await readRecording()).recording_end ?? '') >= ms)
  const start = () => server.start()
  const ends = [
    () => server.kill().then(start),
    () => server.stop().then(start),
    async () => {
      await writeFile(order, '')
      await eventually('the worker has got the order', 20_000, async () => !existsSync(order))
    },
  ]
  const beginMs = Date.now()
  await untilFootageOf(beginMs)
  const isWithinGroup = (share: number) => share > 0.3 && share < 0.5
  for (const end of ends) {
    // A group lasts eight seconds: some of it is recorded, and the camera still has it when the next server connects.
    await eventually('the middle of a group', 60_000, async () => isWithinGroup((newest % gopFrames) / gopFrames))
    await end()
    await untilFootageOf(Date.now())
  }
  await server.request(`/v1/cameras/${id}/recording/stop/`, { method: 'POST' })
  await sleep(1000)

  const range = { startMs: beginMs - 60_000, endMs: Date.now() + 60_000 }
  const { pictures } = await playRecording(http, id, range, true)
  const numbers = pictures.map(({ taken }) => taken!.frameNumber)
  assert.ok(numbers.length > gopFrames / 2, `${numbers.length} frames`)
  const again = numbers.filter((number, i) => number <= (numbers[i - 1] ?? -1))
  assert.deepEqual(again, [], 'played twice, or in another order')
  const { gaps } = await readTimeline(http, id, range)
  // After the end of the recording there may be another gap, or not yet.
  const between = gaps.slice(0, ends.length).map(({ reason }) => reason)
  assert.deepEqual(between, ['server_down', 'server_down', 'server_down'], JSON.stringify(gaps))
})

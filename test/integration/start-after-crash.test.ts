// After a crash with many open files, the next server responds and records at once and repairs the files in the
// background.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { constants } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Recording, Timeline } from '../../contract/recording.ts'
import { segmentPath } from '../../server/archive/layout.ts'
import { openSecretKey } from '../../server/auth/secret-key.ts'
import { databaseFile } from '../../server/store/engine/database-file.ts'
import { openStore } from '../../server/store/store.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServer, type ServerUnderTest } from '../server-under-test.ts'

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

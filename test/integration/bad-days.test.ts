// Failures of cameras and disks as clients see them: the owner gets a readable reason, nothing is lost, and operation
// resumes by itself.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Camera } from '../../contract/camera.ts'
import type { Recording, Timeline } from '../../contract/recording.ts'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServer, type ServerProcess } from '../server-under-test.ts'
import { findOwnPort } from '../support/own-port.ts'

type Listed = { cameras: { id: number; status: string; status_reason: string | null; status_detail: string | null }[] }

let source: FakeCamera
let locked: FakeCamera
let server: ServerProcess

before(async () => {
  const streams = ['good', 'other', 'third'].map((name) => ({ name, width: 320, height: 180, gopFrames: 15 }))
  source = await openFakeCamera({ streams })
  locked = await openFakeCamera({ streams, auth: { scheme: 'digest-sha256', username: 'viewer', password: 'secret' } })
  server = await openServer()
})

after(async () => {
  await server[Symbol.asyncDispose]()
  await source[Symbol.asyncDispose]()
  await locked[Symbol.asyncDispose]()
})

async function addCamera(url: string, ...more: string[]): Promise<number> {
  return server.addCamera('Test', url, ...more)
}

const readCamera = async (id: number) => (await server.request<Camera>(`/v1/cameras/${id}/`)).json
const readRecording = async (id: number) => (await server.request<Recording>(`/v1/cameras/${id}/recording/`)).json

async function readTimeline(id: number): Promise<Timeline> {
  const time = (ms: number) => new Date(ms).toISOString()
  const path = `/v1/cameras/${id}/recording/timeline/?start=${time(Date.now() - 3600_000)}&end=${time(Date.now() + 1000)}`
  return (await server.request<Timeline>(path)).json
}

test('each kind of faulty camera is offline with a reason in the API and on the command line, and a working camera is not affected', async () => {
  const closedPort = await findOwnPort()
  const good = await addCamera(source.url('good'))
  const wrong: Record<string, { id: number; reason: string; expected: RegExp }> = {
    'no such path': {
      id: await addCamera(source.url('good').replace('/good', '/nowhere')),
      reason: 'no_frames',
      expected: /404|path|address/i,
    },
    'nobody listens': {
      id: await addCamera(`rtsp://127.0.0.1:${closedPort}/x`),
      reason: 'camera_unreachable',
      expected: /refus|listen/i,
    },
    'no such host': {
      id: await addCamera('rtsp://no-such-camera.invalid/x'),
      reason: 'camera_unreachable',
      expected: /name|found|resolve/i,
    },
    'wrong password': {
      id: await addCamera(
        locked.url('good').replace('rtsp://viewer:secret@', 'rtsp://').replace('rtsp://', 'rtsp://viewer:wrong@'),
      ),
      reason: 'auth_failed',
      expected: /password/i,
    },
  }
  for (const [what, { id, reason, expected }] of Object.entries(wrong)) {
    await eventually(`${what} is reported`, 30_000, async () => (await readCamera(id)).status === 'offline')
    const { cameras } = await server.command<Listed>('camera', 'list')
    const listed = cameras.find((camera) => camera.id === id)!
    assert.equal(listed.status_reason, reason, what)
    assert.match(listed.status_detail!, expected, what)
    assert.doesNotMatch(listed.status_detail!, /wrong@|viewer:/, 'there are no credentials')
    assert.equal((await readCamera(id)).status_reason, listed.status_detail)
  }
  await eventually('the working camera is online', 15_000, async () => (await readCamera(good)).status === 'online')
  for (const { id } of Object.values(wrong)) await server.command('camera', 'remove', String(id))
  await server.command('camera', 'remove', String(good))
})

test('a stream without video and a stream with an unknown codec report what they contain', async () => {
  for (const [kind, expected] of [
    ['no_video', /video/i],
    ['unknown_codec', /codec|offers|H\.?264/i],
  ] as const) {
    source.faults.describeAs(kind, 'other')
    const id = await addCamera(source.url('other'))
    await eventually(`${kind} is reported`, 20_000, async () => (await readCamera(id)).status === 'offline')
    const { cameras } = await server.command<Listed>('camera', 'list')
    assert.match(cameras.find((camera) => camera.id === id)!.status_detail!, expected)
    await server.command('camera', 'remove', String(id))
  }
  source.faults.describeAs('none', 'other')
})

test('a disconnected camera reconnects by itself, and the gap has a reason', async () => {
  const id = await addCamera(source.url('good'), '--record', 'P1D')
  await eventually('it is being recorded', 20_000, async () => (await readRecording(id)).recording_start !== null)
  await source.faults.refuseConnections(4000)
  source.faults.dropConnections('good')
  await eventually('it is offline', 20_000, async () => (await readCamera(id)).status === 'offline')
  await eventually('it is online again', 30_000, async () => (await readCamera(id)).status === 'online')
  const { gaps, segments } = await eventually('footage after the gap', 20_000, async () => {
    const timeline = await readTimeline(id)
    return timeline.segments.length === 2 && timeline
  })
  assert.equal(segments.length, 2)
  assert.deepEqual(
    gaps.map(({ reason }) => reason),
    ['camera_unreachable'],
  )
  await server.command('camera', 'remove', String(id))
})

test('if the disk cannot be written, recording reports an error and resumes by itself, and live views continue', async () => {
  const id = await addCamera(source.url('third'))
  await eventually('it is online', 20_000, async () => (await readCamera(id)).status === 'online')
  const folder = join(server.dataDir, 'archive', 'cameras')
  await mkdir(folder, { recursive: true })
  // A file in place of the camera's folder causes an error even for root, who ignores permissions.
  await writeFile(join(folder, String(id)), '')
  await server.command('camera', 'record', String(id), '--retention', 'P1D')
  const failed = await eventually('the error is reported', 20_000, async () => {
    const recording = await readRecording(id)
    return recording.status === 'ERROR' && recording
  })
  assert.ok(JSON.stringify(failed.status_reason).length > 10, 'it states the reason')
  const { live_snapshot } = await readCamera(id)
  assert.equal((await server.request(live_snapshot, { authorization: null })).status, 200, 'live views continue')
  await rm(join(folder, String(id)))
  await eventually('recording has resumed', 45_000, async () => (await readRecording(id)).status === 'RECORDING')
  await eventually('footage', 10_000, async () => (await readRecording(id)).recording_start !== null)
  await server.command('camera', 'remove', String(id))
})

test('after kill -9 only the open fragment is lost, the gap has the reason server_down, and the index matches the files', async () => {
  const id = await addCamera(source.url('good'), '--record', 'P1D')
  const listedMs = await eventually('some seconds of footage, up to now', 30_000, async () => {
    const { recording_start, recording_end } = await readRecording(id)
    const endMs = Date.parse(recording_end ?? '')
    return endMs - Date.parse(recording_start!) > 5000 && endMs > Date.now() - 2500 && endMs
  })
  await server.kill()
  await new Promise((resolve) => setTimeout(resolve, 4000))
  await server.start()
  const { segments, gaps } = await eventually('footage after the restart', 30_000, async () => {
    const timeline = await readTimeline(id)
    return timeline.segments.length === 2 && timeline
  })
  const lostMs = listedMs - Date.parse(segments[0]!.end)
  assert.ok(lostMs <= 0, `${lostMs} ms of what was listed before the kill`)
  assert.deepEqual(
    gaps.map(({ reason }) => reason),
    ['server_down'],
  )
  await server.command('camera', 'record', String(id), '--off')
  await eventually(
    'the file is closed',
    10_000,
    async () => (await server.command<{ ok: boolean }>('check', '--deep')).ok,
  )
  await server.command('camera', 'remove', String(id))
})

test('changes of tokens, accounts and cameras on the command line reach the running server within 2 s', async () => {
  const { token, id } = await server.command<{ token: string; id: number }>(
    'token',
    'create',
    '--user',
    'owner@example.com',
  )
  const authorization = `PersonalAccessToken ${token}`
  const status = async () => (await server.request('/v1/me/', { authorization })).status
  await eventually('the new token works', 2000, async () => (await status()) === 200)
  await server.command('token', 'revoke', String(id))
  await eventually('the revoked token does not', 2000, async () => (await status()) === 401)

  await server.command(
    'user',
    'add',
    '--email',
    'other@example.com',
    '--password',
    'bald eagles hum',
    '--first-name',
    'O',
    '--last-name',
    'T',
  )
  const other = await server.command<{ token: string }>('token', 'create', '--user', 'other@example.com')
  const otherStatus = async () =>
    (await server.request('/v1/me/', { authorization: `PersonalAccessToken ${other.token}` })).status
  await eventually('the other user can sign in', 2000, async () => (await otherStatus()) === 200)
  await server.command('user', 'disable', 'other@example.com')
  await eventually('the disabled user cannot', 2000, async () => (await otherStatus()) === 401)

  const camera = await addCamera(source.url('good'))
  await eventually('the new camera is listed', 2000, async () => (await readCamera(camera)).id === camera)
  await server.command('camera', 'remove', String(camera))
  await eventually(
    'the removed camera is not',
    2000,
    async () => (await server.request(`/v1/cameras/${camera}/`)).status === 404,
  )
})

test('deleting a camera deletes its footage and images', async () => {
  const id = await addCamera(source.url('other'), '--record', 'P1D')
  await eventually('it is being recorded', 20_000, async () => (await readRecording(id)).recording_start !== null)
  await server.command('camera', 'remove', String(id))
  await eventually('no file is left', 10_000, async () => {
    const { globSync } = await import('node:fs')
    const left = globSync(join(server.dataDir, `{archive/cameras/${id}/**/*.mp4,snapshots/${id}.jpg}`))
    return left.length === 0
  })
})

test('moving the archive folder during recording causes an error and not a crash', async () => {
  const id = await addCamera(source.url('third'), '--record', 'P1D')
  await eventually('it is being recorded', 20_000, async () => (await readRecording(id)).recording_start !== null)
  const folder = join(server.dataDir, 'archive')
  await rename(folder, `${folder}-away`)
  await writeFile(folder, '')
  source.faults.dropConnections('third') // makes it begin a new file
  await eventually('the error is reported', 30_000, async () => (await readRecording(id)).status === 'ERROR')
  await rm(folder)
  await rename(`${folder}-away`, folder)
  await eventually('recording has resumed', 45_000, async () => (await readRecording(id)).status === 'RECORDING')
  await server.command('camera', 'remove', String(id))
})

test('a second server with the same data folder refuses to start and changes nothing', async () => {
  const id = await addCamera(source.url('good'), '--record', 'P1D')
  await eventually('it is being recorded', 20_000, async () => (await readRecording(id)).status === 'RECORDING')
  const second = spawnSync(
    process.execPath,
    [
      fileURLToPath(new URL('../../server/commands/nightjar.ts', import.meta.url)),
      'serve',
      '--data',
      server.dataDir,
      '--port',
      '0',
    ],
    { encoding: 'utf8', timeout: 120_000 },
  )
  assert.equal(second.status, 1)
  assert.match(second.stderr, /another Nightjar server is running on/)
  assert.equal((await readCamera(id)).status, 'online')
  await server.command('camera', 'remove', String(id))
})

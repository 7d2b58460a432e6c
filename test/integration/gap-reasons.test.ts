// The reasons for missing footage that the timeline reports during a gap and afterwards: every reason that a camera,
// its owner or a server shutdown can cause. Disk failures are tested in bad-days.test.ts and by the recorder.

import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Timeline } from '../../contract/recording.ts'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServerHere, type ServerUnderTest } from '../server-under-test.ts'

const stream = (name: string) => ({ name, width: 320, height: 180, gopFrames: 15 })

let server: ServerUnderTest
let going: FakeCamera
let staying: FakeCamera
let locked: FakeCamera

before(async () => {
  going = await openFakeCamera({ streams: [stream('going')] })
  staying = await openFakeCamera({ streams: [stream('still'), stream('moved'), stream('stopped')] })
  locked = await openFakeCamera({
    streams: [stream('locked')],
    auth: { scheme: 'digest-md5', username: 'viewer', password: 'secret' },
  })
  server = await openServerHere()
})

after(async () => {
  await server[Symbol.asyncDispose]()
  for (const camera of [going, staying, locked]) await camera[Symbol.asyncDispose]()
})

async function record(url: string): Promise<number> {
  const id = await server.addCamera('Test', url, '--record', 'P1D')
  await eventually(`camera ${id} is recorded`, 30_000, async () => (await readTimeline(id)).segments.length === 1)
  return id
}

async function readTimeline(id: number): Promise<Timeline> {
  const time = (ms: number) => new Date(ms).toISOString()
  const nowMs = Date.now()
  const range = `start=${time(nowMs - 3600_000)}&end=${time(nowMs + 3600_000)}`
  return (await server.request<Timeline>(`/v1/cameras/${id}/recording/timeline/?${range}`)).json
}

/** Returns the gaps once the last one is ongoing and has this reason. */
async function untilLasting(id: number, reason: string): Promise<string[]> {
  return eventually(`${reason} lasts`, 60_000, async () => {
    const { gaps } = await readTimeline(id)
    const last = gaps.at(-1)
    const isNow = last !== undefined && Math.abs(Date.parse(last.end) - Date.now()) < 5000
    return isNow && last.reason === reason && gaps.map((gap) => gap.reason)
  })
}

/** Returns the gaps once there is footage after them. */
async function untilOver(id: number): Promise<string[]> {
  return eventually('footage again', 90_000, async () => {
    const { gaps, segments } = await readTimeline(id)
    const [last, newest] = [gaps.at(-1), segments.at(-1)]
    return last !== undefined && newest !== undefined && last.end <= newest.start && gaps.map((gap) => gap.reason)
  })
}

// Each test waits for its own camera.
suite('cameras', { concurrency: true }, () => {
  test('a camera that disconnects and reconnects', async () => {
    const id = await record(going.url('going'))
    await going.faults.refuseConnections(8000)
    going.faults.dropConnections('going')
    assert.deepEqual(await untilLasting(id, 'camera_unreachable'), ['camera_unreachable'])
    assert.deepEqual(await untilOver(id), ['camera_unreachable'])
  })

  test('a camera that stops sending', async () => {
    const id = await record(staying.url('still'))
    staying.faults.stall(20_000, 'still')
    const reasons = await untilLasting(id, 'no_frames')
    assert.equal(reasons[0], 'no_frames')
    assert.equal((await untilOver(id))[0], 'no_frames')
  })

  test('a camera whose URL is changed to one that requires a login, and back', async () => {
    const url = staying.url('moved')
    const id = await record(url)
    const change = (body: object) => server.request(`/v1/cameras/${id}/`, { method: 'PUT', body })
    await change({ url: locked.url('locked'), username: 'viewer', password: 'wrong' })
    const reasons = await untilLasting(id, 'auth_failed')
    // The change itself may take less than a second.
    assert.deepEqual(
      reasons.filter((reason) => reason !== 'stream_changed'),
      ['auth_failed'],
    )
    await sleep(3000) // shorter breaks are not shown afterwards
    await change({ url, username: null, password: null })
    await untilOver(id)
  })
})

test('recording that is turned off and on by the owner, with a server restart in between', async () => {
  const id = await record(staying.url('stopped'))
  const other = await record(staying.url('moved'))
  await server.command('camera', 'record', String(id), '--off')
  const stoppedMs = Date.now()
  await sleep(5000)
  assert.equal(await server.stop(), 0)
  await sleep(4000)
  await server.start()
  await server.command('camera', 'record', String(id), '--retention', 'P1D')
  assert.deepEqual(await untilOver(other), ['server_down'])
  const reasons = await untilOver(id)
  assert.equal(reasons[0], 'stopped_by_user')
  assert.ok(Date.parse((await readTimeline(id)).gaps[0]!.start) <= stoppedMs + 3000)
})

// The server's clock is set ahead by weeks and back again: footage is kept, and users see the reason.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Timeline } from '../../contract/recording.ts'
import type { Storage } from '../../contract/storage.ts'
import { openServerClock } from '../audit/server-clock.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServerWith } from '../server-under-test.ts'

const dayMs = 86_400_000
const aheadMs = 20 * dayMs
const stream = { name: 'yard', width: 320, height: 180, framesPerSecond: 10, gopFrames: 10 }

test('setting the clock ahead by three weeks deletes nothing, even after a restart, and setting it back restores the timeline', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-clock-'))
  t.after(() => rm(folder, { recursive: true }))
  const clock = await openServerClock(folder)
  if (!clock.canBeSet) return t.skip('libfaketime is not installed')
  await clock.begin()
  await using source = await openFakeCamera({ streams: [stream] })
  await using server = await openServerWith(clock.environment, '--rate-limit', '0')
  const id = await server.addCamera('Yard', source.url('yard'), '--record', 'P1D')
  const beginMs = Date.now()
  const read = async (fromMs: number) => {
    const range = `start=${new Date(fromMs).toISOString()}&end=${new Date(fromMs + 600_000).toISOString()}`
    return (await server.request<Timeline>(`/v1/cameras/${id}/recording/timeline/?${range}`)).json
  }
  const findDoubt = async () => {
    const { json } = await server.request<Storage>('/v1/me/storage/')
    return json.server!.clock_doubt
  }
  await eventually('it is being recorded', 60_000, async () => (await read(beginMs - 60_000)).segments.length > 0)
  assert.equal(await findDoubt(), null)

  await clock.set(aheadMs)
  await eventually('recording continues with the new time', 60_000, async () => {
    return (await read(Date.now() + aheadMs - 300_000)).segments.length > 0
  })
  // By this clock, earlier footage is far too old. Retention runs every ten seconds.
  const doubt = await eventually(
    'the clock is reported as doubtful',
    60_000,
    async () => (await findDoubt()) ?? undefined,
  )
  assert.ok(Math.abs(doubt.ahead_seconds - aheadMs / 1000) < 120, JSON.stringify(doubt))
  assert.ok(doubt.remaining_seconds > 86_000 && doubt.remaining_seconds <= 86_400, JSON.stringify(doubt))
  await new Promise((resolve) => setTimeout(resolve, 12_000))
  await server.stop()
  await server.start()
  await new Promise((resolve) => setTimeout(resolve, 12_000))
  assert.ok((await findDoubt()) !== null, 'a restart does not make the clock accepted')
  assert.match(server.log(), /the clock moved forward/)

  await clock.set(0)
  await eventually('the clock is accepted', 90_000, async () => (await findDoubt()) === null)
  const { segments } = await read(beginMs - 60_000)
  assert.ok(segments.length > 0 && Date.parse(segments[0]!.start) < beginMs + 60_000, JSON.stringify(segments))
  await eventually(
    'recording continues with the earlier time, and footage from the future is still listed',
    60_000,
    async () => {
      const now = await read(Date.now() - 300_000)
      return now.segments.length > 1 && (await read(Date.now() + aheadMs - 300_000)).segments.length > 0
    },
  )
})

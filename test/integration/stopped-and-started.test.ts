// Recording is stopped and started again before the camera's next key frame: the new recorder receives the newest group
// of pictures, part of which the previous one has already recorded.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openHttpReader } from '../audit/http-reader.ts'
import { playRecording } from '../audit/play-recording.ts'
import { readTimeline } from '../audit/read-timeline.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServerHere } from '../server-under-test.ts'

const gopSeconds = 6

test('recording that is stopped and started within a group of pictures records nothing twice, and the gap has a reason', async () => {
  const stream = { name: 'yard', scene: 'yard', width: 320, height: 180, framesPerSecond: 10 } as const
  await using camera = await openFakeCamera({
    streams: [{ ...stream, gopFrames: gopSeconds * 10, stampsTrueTime: true, joinsAnywhere: true }],
  })
  await using server = await openServerHere()
  using http = openHttpReader(server)
  const id = await server.addCamera('Yard', camera.url('yard'), '--record', 'P1D')
  const path = `/v1/cameras/${id}/recording/`
  const recordedUntil = async () =>
    Date.parse((await http.getJson<{ recording_end: string | null }>(path)).recording_end ?? '')
  const untilFootageOf = (ms: number) => eventually('footage', 60_000, async () => (await recordedUntil()) >= ms)
  const post = (what: string) => server.request(`${path}${what}/`, { method: 'POST' })

  const beginMs = Date.now()
  await untilFootageOf(beginMs)
  // Two complete groups and a part, whatever the moment: before some of these starts there is no key frame.
  for (let i = 0; i < 4; i++) {
    await sleep(gopSeconds * 300)
    await post('stop')
    await sleep(gopSeconds * 200)
    await post('start')
    await untilFootageOf(Date.now())
  }
  await post('stop')
  await sleep(1000)

  const range = { startMs: beginMs - 60_000, endMs: Date.now() + 60_000 }
  const { pictures } = await playRecording(http, id, range, true)
  const numbers = pictures.map(({ taken }) => taken!.frameNumber)
  assert.ok(numbers.length > gopSeconds * 20, `${numbers.length} frames`)
  const again = numbers.filter((number, i) => number <= (numbers[i - 1] ?? -1))
  assert.deepEqual(again, [], 'played twice, or in another order')
  const { gaps } = await readTimeline(http, id, range)
  assert.deepEqual(
    gaps.filter(({ reason }) => reason !== 'stopped_by_user'),
    [],
  )
})

// Records a hundred cameras for twenty seconds with the real server (longer, and more: npm run bench -- many): every frame is in the files, in order, and the timeline
// has no gap.
//
// Every frame carries its number (frame-counter.ts), also in the files, so that no missing frame goes unnoticed.

import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { scanBoxes } from '../../server/media/mp4/box-scanner.ts'
import { parseMovieFragment, type TrackFragment } from '../../server/media/mp4/fragment-head.ts'
import { videoTrackId } from '../../server/media/mp4/init-segment.ts'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { listFrameCounters } from '../fake-camera/frame-counter.ts'
import { createLoadStreams } from '../fake-camera/source/stream-options.ts'
import { eventually, openServer, type ServerUnderTest } from '../server-under-test.ts'

const cameraCount = 100
const recordedMs = 20_000
/**
 * Small frames, so that a minute of all cameras would be half a gigabyte; the cost depends on the number of frames and
 * connections.
 */
const video = { width: 480, height: 270, framesPerSecond: 25, bitsPerSecond: 500_000 }

test('a hundred cameras are recorded for twenty seconds without losing a frame', async () => {
  const streams = createLoadStreams(cameraCount, video)
  await using camera = await openFakeCamera({ streams })
  await using server = await openServer('--log-level', 'warn')
  const addedMs = Date.now()
  const ids: number[] = []
  for (const { name } of streams) ids.push(await addRecordedCamera(server, name, camera.url(name)))
  for (const id of ids) await eventually(`camera ${id} is recorded`, 30_000, () => isRecorded(server, id))

  const first = countSent(camera)
  await sleep(recordedMs)
  const end = countSent(camera)
  await sleep(1000) // what was sent last is on its way
  for (const id of ids) await checkTimeline(server, id, addedMs)
  const dropped = Object.values(camera.stats().streams).reduce((total, { framesDropped }) => total + framesDropped, 0)
  assert.equal(dropped, 0, 'the server was never too slow for the cameras')
  assert.equal(await server.stop(), 0)
  assert.equal(server.log(), '', 'there are no warnings')

  for (const [index, id] of ids.entries()) {
    const numbers = await readRecording(join(server.dataDir, 'archive', 'cameras', String(id)))
    for (const [i, number] of numbers.entries()) {
      assert.equal(number, numbers[0]! + i, `camera ${id}: the frame after ${numbers[i - 1]}`)
    }
    assert.ok(numbers[0]! <= first[index]!, `camera ${id} is recorded from frame ${first[index]} on`)
    assert.ok(numbers.at(-1)! >= end[index]! - 1, `camera ${id} is recorded up to frame ${end[index]! - 1}`)
    const due = (recordedMs / 1000) * video.framesPerSecond
    assert.ok(end[index]! - first[index]! >= due - video.framesPerSecond, `camera ${id} sent at its full rate`)
  }
})

async function addRecordedCamera(server: ServerUnderTest, name: string, url: string): Promise<number> {
  const added = await server.request<{ id: number }>('/v1/cameras/', { method: 'POST', body: { name, url } })
  assert.equal(added.status, 201, added.text)
  const path = `/v1/cameras/${added.json.id}/recording/`
  const { status, text } = await server.request(path, { method: 'POST', body: { retention: 'P1D' } })
  assert.equal(status, 201, text)
  return added.json.id
}

async function isRecorded(server: ServerUnderTest, id: number): Promise<boolean> {
  const { json } = await server.request<{ recording_start: string | null }>(`/v1/cameras/${id}/recording/`)
  return json.recording_start !== null
}

/** One segment as long as the recording, and no gap. */
async function checkTimeline(server: ServerUnderTest, id: number, sinceMs: number): Promise<void> {
  type Answer = { segments: { start: string; end: string }[]; gaps: unknown[] }
  const time = (ms: number) => new Date(ms).toISOString().replace(/\.\d+/, '')
  const query = `start=${time(sinceMs - 60_000)}&end=${time(Date.now() + 60_000)}`
  const { status, text, json } = await server.request<Answer>(`/v1/cameras/${id}/recording/timeline/?${query}`)
  assert.equal(status, 200, text)
  assert.equal(json.segments.length, 1, `camera ${id}: ${text}`)
  assert.deepEqual(json.gaps, [], `camera ${id}: ${text}`)
  const [{ start, end }] = json.segments as [{ start: string; end: string }]
  // The newest fragment is on the timeline within two seconds.
  assert.ok(Date.parse(end) - Date.parse(start) >= recordedMs - 2000, `camera ${id}: ${text}`)
}

/** Number of frames sent so far by each camera, which is also the number of the next frame. */
function countSent(camera: FakeCamera): number[] {
  return Object.values(camera.stats().streams).map(({ framesSent }) => framesSent)
}

/**
 * Returns the numbers of all frames in the order of the files. Checks that the files are complete and without holes.
 */
async function readRecording(folder: string): Promise<number[]> {
  const numbers: number[] = []
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.mp4')).sort()
  for (const name of files) {
    const bytes = await readFile(join(folder, name))
    const { boxes, restOffset } = scanBoxes(bytes)
    assert.equal(restOffset, bytes.length, `${name} ends with a whole box`)
    let video: TrackFragment | undefined
    let nextDecodeTime = 0
    for (const { type, offset, bytes: length } of boxes) {
      const box = bytes.subarray(offset, offset + length)
      if (type === 'moof') {
        video = parseMovieFragment(box).tracks.find(({ trackId }) => trackId === videoTrackId)
        assert.equal(video?.baseDecodeTime, nextDecodeTime, `${name}: a fragment follows the one before`)
        nextDecodeTime += video!.duration
      } else if (type === 'mdat') {
        const counters = listFrameCounters(box)
        assert.equal(counters.length, video?.sampleCount, `${name}: every sample is a frame of the camera`)
        for (const { frameNumber } of counters) numbers.push(frameNumber)
      }
    }
  }
  return numbers
}

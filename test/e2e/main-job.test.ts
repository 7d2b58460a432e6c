// The complete path of a frame: a third-party camera, our server, third-party players.

import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Camera } from '../../contract/camera.ts'
import type { Recording, Timeline } from '../../contract/recording.ts'
import { eventually, openServer, type ServerUnderTest } from '../server-under-test.ts'
import { type GstreamerCamera, openGstreamerCamera } from './gstreamer-camera.ts'
import { checkIncreasing, decode, probe } from './media-probe.ts'

const fps = 25
const gop = 25
let server: ServerUnderTest
let source: GstreamerCamera
let cameraId: number

before(async () => {
  source = await openGstreamerCamera({
    fps,
    gop,
    streams: ['h264+aac'],
    auth: { scheme: 'digest', user: 'viewer', password: 'p:a@s/s' },
  })
  server = await openServer()
  const url = source.url().replace('p:a@s/s', encodeURIComponent('p:a@s/s'))
  const added = await server.command<{ id: number }>(
    ...(['camera', 'add', '--user', 'owner@example.com', '--name', 'Ball', '--url', url, '--record', 'P7D'] as const),
  )
  cameraId = added.id
})

after(async () => {
  await server[Symbol.asyncDispose]()
  await source[Symbol.asyncDispose]()
})

const camera = async () => (await server.request<Camera>(`/v1/cameras/${cameraId}/`)).json
const isoTime = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z/, 'Z')
const streamUrl = async (format: string) => (await camera()).streams.find((stream) => stream.format === format)!.url

test('a camera added from the command line comes online and is recorded', async () => {
  await eventually('the camera is online', 10_000, async () => (await camera()).status === 'online')
  const { type, audio_enabled, streams } = await camera()
  assert.equal(type, 'h264')
  assert.equal(audio_enabled, true)
  assert.deepEqual(
    streams.map(({ format }) => format),
    ['mjpeg', 'mp4', 'mpegts', 'hls'],
  )
  const recording = await eventually('footage', 10_000, async () => {
    const { json } = await server.request<Recording>(`/v1/cameras/${cameraId}/recording/`)
    return json.recording_start !== null && json
  })
  assert.equal(recording.status, 'RECORDING')
})

test('the open file appears on the timeline soon', async () => {
  // Two seconds later, and more on a busy machine. Files, which last a quarter of a minute at least, would not be listed as
  // often if each were listed when it is closed.
  const sinceMs = Date.now()
  const ends = new Set<number>()
  await eventually('footage of this moment, and more and more of it', 10_000, async () => {
    const { json } = await server.request<Recording>(`/v1/cameras/${cameraId}/recording/`)
    const endMs = Date.parse(json.recording_end!)
    if (endMs > sinceMs) ends.add(endMs)
    return ends.size >= 4
  })
})

for (const format of ['mp4', 'mpegts', 'hls']) {
  test(`ffprobe and ffmpeg play the live ${format}`, async () => {
    const url = await streamUrl(format)
    const { video, audio, complaints } = await probe(url, { seconds: 5 })
    assert.equal(video?.codec, 'h264')
    assert.equal(video.width, 640)
    assert.equal(audio?.codec, 'aac')
    assert.equal(audio.sampleRate, 44_100)
    assert.ok(Math.abs(video.packets.length - 5 * fps) <= gop, `${video.packets.length} frames in 5 s`)
    checkIncreasing(video, 0.2)
    checkIncreasing(audio, 0.2)
    assert.equal(complaints, '')
    await decode(url, { seconds: 3 })
  })
}

test('ffprobe reads the MJPEG stream at the requested size and rate', async () => {
  const { json } = await server.request<Camera>(`/v1/cameras/${cameraId}/?refresh_rate=0.5&max_width=320`)
  const tuned = json.streams[0]!
  assert.equal(tuned.refresh_rate, 0.5)
  const startedMs = performance.now()
  const response = await takeMjpeg(tuned.url, 3)
  const elapsedMs = performance.now() - startedMs
  assert.equal(response.length, 3)
  assert.ok(elapsedMs > 3500, `three images at 0.5 a second took ${elapsedMs} ms`)
  const full = await probe(await streamUrl('mjpeg'), { packets: 3 })
  assert.equal(full.video?.codec, 'mjpeg')
  assert.equal(full.video.width, 640)
})

test('snapshots have the requested size', async () => {
  const { live_snapshot } = (await server.request<Camera>(`/v1/cameras/${cameraId}/?max_height=90`)).json
  const { video } = await probe(live_snapshot)
  assert.equal(video?.codec, 'mjpeg')
  assert.deepEqual([video.width, video.height], [160, 90])
})

test('a recorded stream plays without holes from the group of pictures that contains its start', async () => {
  const { json } = await server.request<Recording>(`/v1/cameras/${cameraId}/recording/`)
  const startMs = Date.parse(json.recording_start!) + 3000
  await eventually('12 s of footage', 30_000, async () => Date.now() > startMs + 12_000)
  const endMs = startMs + 8000
  const stream = await server.request<{ format: string; url: string }>(
    `/v1/cameras/${cameraId}/recording/stream/?start=${isoTime(startMs)}&end=${isoTime(endMs)}`,
  )
  assert.equal(stream.status, 200, stream.text)
  assert.equal(stream.json.format, 'hls')
  const { video, audio, complaints } = await probe(stream.json.url)
  assert.ok(video && audio)
  // Whole groups: the first begins before the start, and the last ends after the end.
  assert.ok(Math.abs(video.packets.length - 8 * fps) <= 2 * gop, `${video.packets.length} frames for 8 s`)
  assert.ok(video.packets[0]!.isKey)
  checkIncreasing(video, 0.2)
  checkIncreasing(audio, 0.2)
  assert.equal(complaints, '')
  await decode(stream.json.url)

  const playlist = (await server.request(stream.json.url, { authorization: null })).text
  const firstMs = Date.parse(/PROGRAM-DATE-TIME:(.*)/.exec(playlist)![1]!)
  assert.ok(
    firstMs <= startMs && firstMs > startMs - (gop / fps) * 1000 - 100,
    `starts at ${firstMs}, asked for ${startMs}`,
  )
})

test('the timeline shows the footage without a gap', async () => {
  const nowMs = Date.now()
  const { json } = await server.request<Timeline>(
    `/v1/cameras/${cameraId}/recording/timeline/?start=${isoTime(nowMs - 3600_000)}&end=${isoTime(nowMs)}`,
  )
  assert.equal(json.segments.length, 1)
  assert.deepEqual(json.gaps, [])
})

test('after SIGTERM every file on disk plays by itself and no frame is missing between files', async () => {
  assert.equal(await server.stop(), 0)
  const files = globSync(join(server.dataDir, 'archive/**/*.mp4')).sort()
  assert.ok(files.length >= 1)
  for (const file of files) {
    const { video, audio, complaints } = await probe(file)
    assert.ok(video && audio)
    assert.equal(complaints, '')
    checkIncreasing(video, 0.2)
    checkIncreasing(audio, 0.2)
    assert.ok(video.packets[0]!.dtsSeconds < 0.1, 'a file begins at zero')
    await decode(file)
  }
  const report = await server.command<{ ok: boolean; files: number }>('check', '--deep')
  assert.deepEqual([report.ok, report.files], [true, files.length])
})

/** Reads the first `count` images of a `multipart/x-mixed-replace` response. */
async function takeMjpeg(url: string, count: number): Promise<Buffer[]> {
  const { Agent, get } = await import('node:https')
  const agent = new Agent({ ca: server.ca })
  const { promise, resolve, reject } = Promise.withResolvers<Buffer[]>()
  const outgoing = get(url, { agent }, (response) => {
    let buffered = Buffer.alloc(0)
    const images: Buffer[] = []
    response.on('data', (chunk: Buffer) => {
      buffered = Buffer.concat([buffered, chunk])
      for (;;) {
        const headEnd = buffered.indexOf('\r\n\r\n')
        const length = Number(
          /content-length: *(\d+)/i.exec(buffered.subarray(0, Math.max(0, headEnd)).toString())?.[1],
        )
        if (headEnd < 0 || !(buffered.length >= headEnd + 4 + length)) return
        images.push(buffered.subarray(headEnd + 4, headEnd + 4 + length))
        buffered = buffered.subarray(headEnd + 4 + length)
        if (images.length < count) continue
        outgoing.destroy()
        resolve(images)
        return
      }
    })
    response.on('error', reject)
  })
  outgoing.on('error', reject)
  try {
    return await promise
  } finally {
    agent.destroy()
  }
}

// Every kind of stream a camera may send, from a server that is not ours, for twenty seconds: what foreign players see live, and that
// every picture that was sent is in the recording.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { readTimeCode } from '../fake-camera/time-code.ts'
import { eventually, openServer, type ServerUnderTest } from '../server-under-test.ts'
import { type GstreamerCamera, openGstreamerCamera } from './gstreamer-camera.ts'
import { checkIncreasing, checkShown, decode, type Probe, probe } from './media-probe.ts'

type Camera = {
  status: string
  type: string
  audio_enabled: boolean
  streams: { format: string; url: string }[]
  live_snapshot: string
}

type Case = { readonly stream: string; readonly type: string; readonly video: string; readonly audio?: string }

const cases: readonly Case[] = [
  { stream: 'h264+aac', type: 'h264', video: 'h264', audio: 'aac' },
  { stream: 'h264-bframes+pcmu', type: 'h264', video: 'h264', audio: 'aac' },
  { stream: 'h265-bframes', type: 'h265', video: 'hevc' },
  { stream: 'h265+opus', type: 'h265', video: 'hevc', audio: 'opus' },
  { stream: 'mjpeg+pcma', type: 'mjpeg', video: 'mjpeg', audio: 'aac' },
]

const fps = 25
const gop = 25
const liveSeconds = 20

let server: ServerUnderTest
let source: GstreamerCamera
/** With a stream whose key frames are a minute apart, and one for each kind of sound, in beeps by the clock in the picture. */
let ours: FakeCamera
const rareFps = 15
const sounds = ['aac', 'pcma', 'g726-32'] as const
const ids = new Map<string, number>()

before(async () => {
  const streams = cases.map(({ stream }) => stream)
  source = await openGstreamerCamera({ streams, fps, gop, width: 320, height: 180 })
  const picture = { width: 320, height: 180, framesPerSecond: rareFps, hasAudio: true }
  const beeping = sounds.map((sound) => ({ name: sound, ...picture, gopFrames: rareFps, sound }))
  ours = await openFakeCamera({ streams: [{ name: 'rare', ...picture, gopFrames: 60 * rareFps }, ...beeping] })
  server = await openServer()
  for (const name of ['rare', ...sounds]) await addCamera(name, ours.url(name))
  for (const { stream } of cases) {
    await addCamera(stream, source.url(stream))
  }
})

async function addCamera(name: string, url: string): Promise<void> {
  const args = ['--user', 'owner@example.com', '--name', name, '--url', url, '--record', 'P7D']
  ids.set(name, (await server.command<{ id: number }>('camera', 'add', ...args)).id)
}

after(async () => {
  await server[Symbol.asyncDispose]()
  await source[Symbol.asyncDispose]()
  await ours[Symbol.asyncDispose]()
})

const read = async (stream: string) => (await server.request<Camera>(`/v1/cameras/${ids.get(stream)}/`)).json

describe('live, all at once', { concurrency: true }, () => {
  for (const { stream, type, video, audio } of cases) {
    test(`${stream} is seen in every format`, { timeout: 120_000 }, async () => {
      await eventually(`${stream} is online`, 30_000, async () => (await read(stream)).status === 'online')
      const camera = await read(stream)
      assert.equal(camera.type, type)
      assert.equal(camera.audio_enabled, audio !== undefined)
      const urlOf = (format: string) => camera.streams.find((each) => each.format === format)!.url
      const formats = type === 'mjpeg' ? ['mjpeg'] : ['mp4', 'mpegts', 'hls']
      if (type === 'mjpeg')
        assert.deepEqual(
          camera.streams.map(({ format }) => format),
          formats,
        )
      // All at once, so that nobody's failure goes unseen while another is waited for.
      const [seen, snapshot] = await Promise.all([
        Promise.all(formats.map((format) => probe(urlOf(format), { seconds: liveSeconds }))),
        probe(camera.live_snapshot),
        ...formats.map((format) => decode(urlOf(format), { seconds: liveSeconds })),
      ])
      for (const [i, each] of seen.entries()) {
        // The multipart stream has no sound, and no times of its own: ffprobe gives it 25 pictures a second.
        checkTracks(each, video, formats[i] === 'mjpeg' ? undefined : audio)
        // Of mp4 there may be more: what is old when a viewer comes takes no time.
        const count = each.video!.packets.length
        assert.ok(count >= liveSeconds * fps - 2 * gop, `${count} pictures in 20 s of ${formats[i]}`)
      }
      assert.equal(snapshot.video?.width, 320)
    })
  }

  test('a camera with a key frame a minute is seen at once, and its recording is not behind', {
    timeout: 120_000,
  }, async () => {
    await eventually('the camera is online', 30_000, async () => (await read('rare')).status === 'online')
    const waitedSeconds = 15
    await new Promise((resolve) => setTimeout(resolve, waitedSeconds * 1000))
    const { json } = await server.request<{ recording_end: string }>(`/v1/cameras/${ids.get('rare')}/recording/`)
    const behindMs = Date.now() - Date.parse(json.recording_end)
    assert.ok(behindMs < 4000, `newest footage is ${behindMs} ms old`)
    const camera = await read('rare')
    const urlOf = (format: string) => camera.streams.find((each) => each.format === format)!.url
    const [mp4, ts, hls] = await Promise.all([
      probe(urlOf('mp4'), { seconds: 5 }),
      probe(urlOf('mpegts'), { seconds: waitedSeconds }),
      probe(urlOf('hls'), { seconds: waitedSeconds }),
    ])
    for (const { video, audio, complaints } of [mp4, ts, hls]) {
      assert.deepEqual([video?.codec, audio?.codec, complaints], ['h264', 'aac', ''])
      assert.equal(video!.packets[0]!.isKey, true)
      checkIncreasing(video!, 5) // a fake camera that gets no time goes on with the present
    }
    // The group is there from its key frame on: fifteen seconds of it, of which mp4 hurries all but the last. (A fake camera that gets
    // no time leaves pictures out.)
    for (const { video } of [mp4, hls])
      assert.ok(video!.packets.length > 8 * rareFps, `${video!.packets.length} pictures`)
    const playlist = (await server.request(urlOf('hls'), { authorization: null })).text
    assert.match(playlist, /#EXT-X-START:TIME-OFFSET=-\d/)
    for (const [, seconds] of playlist.matchAll(/#EXTINF:([\d.]+)/g)) assert.ok(Number(seconds) <= 8, seconds)
    assert.equal((await probe(camera.live_snapshot)).video?.width, 320)
  })
})

test('a recording plays as a stream, over the ends of files', { timeout: 60_000 }, async () => {
  for (const { stream, video, audio } of cases) {
    const path = `/v1/cameras/${ids.get(stream)}/recording`
    const { json: recording } = await server.request<{ recording_start: string }>(`${path}/`)
    const endMs = Date.parse(recording.recording_start) + 15_000
    const end = new Date(endMs).toISOString().replace(/\.\d+Z/, 'Z')
    const { json } = await server.request<{ url: string }>(
      `${path}/stream/?start=${recording.recording_start}&end=${end}`,
    )
    const seen = await probe(json.url)
    checkTracks(seen, video, audio)
    const count = seen.video!.packets.length
    assert.ok(Math.abs(count - 15 * fps) <= 2 * gop, `${count} pictures in 15 s of ${stream}`)
    await decode(json.url)
  }
})

test('every picture that was sent is recorded, in files that play by themselves', { timeout: 180_000 }, async () => {
  await source.end()
  const sent = await eventually('the streams have ended', 60_000, async () => {
    const sent = await source.sent()
    return Object.values(sent).every(({ ended }) => ended) && sent
  })
  // When the server knows that a stream is gone, it has what came before.
  for (const { stream } of cases)
    await eventually(`${stream} is offline`, 60_000, async () => (await read(stream)).status === 'offline')
  assert.equal(await server.stop(), 0)
  for (const { stream, video, audio } of cases) {
    const files = globSync(join(server.dataDir, `archive/cameras/${ids.get(stream)}/**/*.mp4`)).sort()
    let count = 0
    for (const file of files) {
      const seen = await probe(file)
      checkTracks(seen, video, audio)
      assert.ok(seen.video!.packets[0]!.isKey)
      count += seen.video!.packets.length
      await decode(file)
    }
    assert.equal(count, sent[stream]!.pictures, `${stream}: pictures in ${files.length} files`)
  }
})

test('sound and picture of a recording agree, whatever the sound came as', { timeout: 60_000 }, async () => {
  for (const sound of sounds) {
    const [file] = globSync(join(server.dataDir, `archive/cameras/${ids.get(sound)}/**/*.mp4`)).sort()
    const [zeroMs, beeps] = await Promise.all([readClock(file!), findBeeps(file!)])
    assert.ok(beeps.length >= 5, `${beeps.length} beeps of ${sound}`)
    for (const seconds of beeps) {
      const past = (zeroMs + seconds * 1000) % 1000
      const errorMs = past > 500 ? past - 1000 : past
      assert.ok(Math.abs(errorMs) < 80, `${sound}: a beep ${errorMs} ms after the second`)
    }
  }
})

/** The camera's clock at time 0 of the file, Unix milliseconds, as the first picture shows it. */
async function readClock(file: string): Promise<number> {
  const { video } = await probe(file, { packets: 5 })
  const luma = await runFfmpeg('-i', file, '-frames:v', '1', '-pix_fmt', 'gray', '-f', 'rawvideo', '-')
  const code = readTimeCode(luma, 320, 180)
  assert.ok(code, 'a clock in the picture')
  return code.unixMs - video!.packets[0]!.ptsSeconds * 1000
}

/** When beeps begin, in seconds since time 0 of the file. */
async function findBeeps(file: string): Promise<number[]> {
  const rate = 16_000
  const fromZero = `aresample=${rate}:async=1:first_pts=0`
  const raw = await runFfmpeg('-t', '12', '-i', file, '-vn', '-af', fromZero, '-ac', '1', '-f', 'f32le', '-')
  const samples = new Float32Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength))
  const beeps: number[] = []
  let lastLoud = 0
  for (const [i, value] of samples.entries()) {
    if (Math.abs(value) < 0.08) continue
    if (i - lastLoud > rate / 2 && i > rate) beeps.push(i / rate)
    lastLoud = i
  }
  return beeps
}

async function runFfmpeg(...args: string[]): Promise<Buffer> {
  const options = { encoding: 'buffer', maxBuffer: 1e8, timeout: 60_000 } as const
  return (await promisify(execFile)('ffmpeg', ['-v', 'error', '-nostdin', ...args], options)).stdout
}

function checkTracks({ video, audio, complaints }: Probe, videoCodec: string, audioCodec: string | undefined): void {
  assert.deepEqual([video?.codec, audio?.codec, complaints], [videoCodec, audioCodec, ''])
  checkIncreasing(video!, 0.2)
  checkShown(video!, 0.2)
  if (audio) checkIncreasing(audio, 0.3)
}

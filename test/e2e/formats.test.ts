// Every kind of stream over every transport, from third-party servers, for ten seconds: what third-party players see
// live, and that every frame that was sent is recorded.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { generate } from 'selfsigned'
import type { Camera } from '../../contract/camera.ts'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { readTimeCode } from '../fake-camera/time-code.ts'
import { eventually, openServer, type ServerUnderTest } from '../server-under-test.ts'
import { openFfmpegCamera } from './ffmpeg-camera.ts'
import {
  type GstreamerCamera,
  type GstreamerCameraOptions,
  openGstreamerCamera,
  type SentStream,
} from './gstreamer-camera.ts'
import { checkIncreasing, checkShown, decode, type Probe, probe, withoutDiscontinuities } from './media-probe.ts'

/** Transports: GStreamer's RTSP server over TCP, UDP or TLS, with or without login, and FFmpeg over HTTP. */
type Way = 'tcp' | 'udp' | 'basic' | 'tls' | 'http'

type Case = {
  readonly way: Way
  readonly stream: string
  readonly type: string
  readonly video: string
  readonly audio?: string
}

const cases: readonly Case[] = [
  { way: 'tcp', stream: 'h264+aac', type: 'h264', video: 'h264', audio: 'aac' },
  { way: 'tcp', stream: 'h264-bframes+pcmu', type: 'h264', video: 'h264', audio: 'aac' },
  { way: 'tcp', stream: 'h265-bframes', type: 'h265', video: 'hevc' },
  { way: 'tcp', stream: 'h265+opus', type: 'h265', video: 'hevc', audio: 'opus' },
  { way: 'tcp', stream: 'mjpeg+pcma', type: 'mjpeg', video: 'mjpeg', audio: 'aac' },
  { way: 'udp', stream: 'h264+latm', type: 'h264', video: 'h264', audio: 'aac' },
  { way: 'udp', stream: 'h265+opus', type: 'h265', video: 'hevc', audio: 'opus' },
  { way: 'udp', stream: 'mjpeg+pcmu', type: 'mjpeg', video: 'mjpeg', audio: 'aac' },
  { way: 'basic', stream: 'h264-bframes', type: 'h264', video: 'h264' },
  { way: 'tls', stream: 'h264', type: 'h264', video: 'h264' },
  { way: 'http', stream: 'mjpeg', type: 'mjpeg', video: 'mjpeg' },
]

const nameOf = ({ way, stream }: Case) => `${stream} by ${way}`

const fps = 25
const gop = 25
const liveSeconds = 10
const recordedSeconds = 8
/** Frames are this far apart at most, also when an encoder gets no CPU time for a moment; their number is checked exactly. */
const maxStepSeconds = 1

let server: ServerUnderTest
let sources: Sources
/**
 * Includes a stream with one key frame per minute, and one for each audio codec, whose beeps follow the burned-in
 * clock.
 */
let ours: FakeCamera
const rareFps = 15
const audioCodecs = ['aac', 'pcma', 'g726-32'] as const
const ids = new Map<string, number>()

before(async () => {
  sources = await openSources()
  const video = { width: 320, height: 180, framesPerSecond: rareFps, hasAudio: true }
  const beeping = audioCodecs.map((audio) => ({ name: audio, ...video, gopFrames: rareFps, audio }))
  ours = await openFakeCamera({ streams: [{ name: 'rare', ...video, gopFrames: 60 * rareFps }, ...beeping] })
  server = await openServer()
  for (const name of ['rare', ...audioCodecs]) await addCamera(name, ours.url(name), 'h264')
  for (const each of cases) await addCamera(nameOf(each), sources.url(each), each.type)
})

type Sources = AsyncDisposable & {
  url(of: Case): string
  sent(of: Case): Promise<SentStream>
  /** Total over all streams. */
  end(): Promise<void>
}

async function openSources(): Promise<Sources> {
  await using opened = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-camera-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const identity = join(folder, 'identity.pem')
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'camera' }])
  await writeFile(identity, `${cert}\n${key}`)
  const login = { user: 'viewer', password: 'sesame' }
  const digest = { scheme: 'digest', ...login } as const
  const options: Record<Exclude<Way, 'http'>, GstreamerCameraOptions> = {
    tcp: {},
    udp: { transport: 'udp', auth: digest },
    basic: { auth: { scheme: 'basic', ...login } },
    tls: { identity, auth: digest },
  }
  const rtsp = new Map<Way, GstreamerCamera>()
  for (const [way, more] of Object.entries(options) as [Way, GstreamerCameraOptions][]) {
    const streams = cases.filter((each) => each.way === way).map(({ stream }) => stream)
    const video = { fps, gop, width: 320, height: 180 }
    rtsp.set(way, opened.use(await openGstreamerCamera({ streams, ...video, ...more })))
  }
  const output = ['-c:v', 'mjpeg', '-f', 'mpjpeg']
  const http = opened.use(await openFfmpegCamera({ fps, output, type: 'multipart/x-mixed-replace; boundary=ffmpeg' }))
  const owned = opened.move()
  return {
    url: ({ way, stream }) => rtsp.get(way)?.url(stream) ?? http.url,
    sent: async ({ way, stream }) => (await rtsp.get(way)?.sent())?.[stream] ?? http.sent(),
    async end() {
      for (const source of rtsp.values()) await source.end()
      http.end()
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function addCamera(name: string, url: string, type: string): Promise<void> {
  const added = await server.request<{ id: number }>('/v1/cameras/', { method: 'POST', body: { name, url, type } })
  assert.equal(added.status, 201, added.text)
  ids.set(name, added.json.id)
  const path = `/v1/cameras/${added.json.id}/recording/`
  const { status, text } = await server.request(path, { method: 'POST', body: { retention: 'P7D' } })
  assert.equal(status, 201, text)
}

after(async () => {
  await server[Symbol.asyncDispose]()
  await sources[Symbol.asyncDispose]()
  await ours[Symbol.asyncDispose]()
})

const read = async (stream: string) => (await server.request<Camera>(`/v1/cameras/${ids.get(stream)}/`)).json

// A few at a time: each is read by up to seven programs.
describe('live', { concurrency: 4 }, () => {
  // First: its group grows while it waits.
  test('a camera with one key frame per minute is shown at once, and its recording does not lag', async () => {
    await eventually('the camera is online', 30_000, async () => (await read('rare')).status === 'online')
    const waitedSeconds = 8
    await new Promise((resolve) => setTimeout(resolve, waitedSeconds * 1000))
    await eventually('its newest footage is that of now', 5000, async () => {
      const { json } = await server.request<{ recording_end: string }>(`/v1/cameras/${ids.get('rare')}/recording/`)
      return Date.now() - Date.parse(json.recording_end) < 4000
    })
    const camera = await read('rare')
    const urlOf = (format: string) => camera.streams.find((each) => each.format === format)!.url
    const [mp4, ts, hls] = await Promise.all([
      probe(urlOf('mp4'), { seconds: 5 }),
      probe(urlOf('mpegts'), { seconds: waitedSeconds }),
      probe(urlOf('hls'), { seconds: waitedSeconds }),
    ])
    for (const [format, { video, audio, complaints }] of Object.entries({ mp4, ts, hls })) {
      assert.deepEqual([video?.codec, audio?.codec, complaints], ['h264', 'aac', ''])
      const [first] = video!.packets
      assert.ok(first!.isKey, `${format} begins with ${JSON.stringify(first)}, of ${video!.packets.length}`)
      checkIncreasing(video!, 5) // a fake camera that gets no time goes on with the present
    }
    // The group is available from its key frame on: eight seconds, of which MP4 delivers all but the last without
    // delay. (A fake camera that gets no CPU time skips frames.)
    for (const { video } of [mp4, hls])
      assert.ok(video!.packets.length > 3 * rareFps, `${video!.packets.length} frames`)
    const playlist = (await server.request(urlOf('hls'), { authorization: null })).text
    assert.match(playlist, /#EXT-X-START:TIME-OFFSET=-\d/)
    // The minute is not one segment, even if the camera got no CPU time for some seconds.
    for (const [, seconds] of playlist.matchAll(/#EXTINF:([\d.]+)/g)) assert.ok(Number(seconds) <= 20, seconds)
    assert.equal((await probe(camera.live_snapshot)).video?.width, 320)
  })

  for (const each of cases) {
    const { way, type, video, audio } = each
    const name = nameOf(each)
    test(`${name} is seen`, async () => {
      await eventually(`${name} is online`, 30_000, async () => (await read(name)).status === 'online')
      const camera = await read(name)
      assert.equal(camera.type, type)
      assert.equal(camera.audio_enabled, audio !== undefined)
      const urlOf = (format: string) => camera.streams.find((each) => each.format === format)!.url
      // The output formats do not depend on the transport.
      const others = way === 'tcp' ? ['mpegts', 'hls'] : []
      const formats = type === 'mjpeg' ? ['mjpeg'] : ['mp4', ...others]
      if (type === 'mjpeg')
        assert.deepEqual(
          camera.streams.map(({ format }) => format),
          ['mjpeg'],
        )
      const sentBefore = (await sources.sent(each)).frames
      const begunMs = performance.now()
      // Run all checks together, so that no failure is hidden while waiting for another.
      const [seen, snapshot] = await Promise.all([
        Promise.all(formats.map((format) => probe(urlOf(format), { seconds: liveSeconds }))),
        probe(camera.live_snapshot),
        ...formats.map((format) => decode(urlOf(format), { seconds: liveSeconds })),
      ])
      // On a busy machine the source itself may be slow, and a player may take longer than the playing time.
      const takenSeconds = Math.max(liveSeconds, (performance.now() - begunMs) / 1000)
      const sent = (await sources.sent(each)).frames - sentBefore
      const due = Math.min(liveSeconds * fps, (sent * liveSeconds) / takenSeconds)
      for (const [i, found] of seen.entries()) {
        // The multipart stream has no audio and no timestamps: ffprobe assumes 25 frames per second.
        checkTracks(found, video, formats[i] === 'mjpeg' ? undefined : audio)
        // MP4 may contain more frames: buffered frames are delivered without delay.
        const count = found.video!.packets.length
        assert.ok(count >= due - 4 * gop, `${count} of ${due} frames in ${liveSeconds} s of ${formats[i]}`)
      }
      assert.equal(snapshot.video?.width, 320)
    })
  }
})

test('a recorded stream plays across file boundaries', async () => {
  for (const each of cases.filter(({ way }) => way === 'tcp')) {
    const { stream, video, audio } = each
    const path = `/v1/cameras/${ids.get(nameOf(each))}/recording`
    const { json: recording } = await server.request<{ recording_start: string }>(`${path}/`)
    const endMs = Date.parse(recording.recording_start) + recordedSeconds * 1000
    const end = new Date(endMs).toISOString().replace(/\.\d+Z/, 'Z')
    const { json } = await server.request<{ url: string }>(
      `${path}/stream/?start=${recording.recording_start}&end=${end}`,
    )
    const seen = await probe(json.url)
    checkTracks(seen, video, audio)
    // The next test counts the frames: an encoder that gets no CPU time leaves some out.
    const { packets } = seen.video!
    const seconds = packets.at(-1)!.dtsSeconds - packets[0]!.dtsSeconds
    assert.ok(Math.abs(seconds - recordedSeconds) <= maxStepSeconds + (2 * gop) / fps, `${seconds} s of ${stream}`)
    await decode(json.url)
  }
})

test('every frame that was sent is recorded in files that play by themselves', async () => {
  await sources.end()
  // Once the server notices that a stream has ended, it has received everything before.
  for (const each of cases) {
    const name = nameOf(each)
    await eventually(`${name} has ended`, 60_000, async () => (await sources.sent(each)).ended)
    await eventually(`${name} is offline`, 60_000, async () => (await read(name)).status === 'offline')
  }
  assert.equal(await server.stop(), 0)
  const check = async (each: Case) => {
    const { video, audio } = each
    const files = globSync(join(server.dataDir, `archive/cameras/${ids.get(nameOf(each))}/**/*.mp4`)).sort()
    let count = 0
    for (const file of files) {
      const seen = await probe(file)
      if (each.way === 'http') checkArrivals(seen, video)
      else checkTracks(seen, video, audio)
      assert.ok(seen.video!.packets[0]!.isKey)
      count += seen.video!.packets.length
      await decode(file)
    }
    const { frames } = await sources.sent(each)
    assert.equal(count, frames, `${nameOf(each)}: frames in ${files.length} files`)
  }
  const rest = [...cases]
  const checkNext = async () => {
    for (let next = rest.pop(); next; next = rest.pop()) await check(next)
  }
  await Promise.all([checkNext(), checkNext()])
})

test('audio and video of a recording are in sync for every audio format', async () => {
  for (const audio of audioCodecs) {
    const [file] = globSync(join(server.dataDir, `archive/cameras/${ids.get(audio)}/**/*.mp4`)).sort()
    const [zeroMs, beeps] = await Promise.all([readClock(file!), findBeeps(file!)])
    assert.ok(beeps.length >= 5, `${beeps.length} beeps of ${audio}`)
    for (const seconds of beeps) {
      const past = (zeroMs + seconds * 1000) % 1000
      const errorMs = past > 500 ? past - 1000 : past
      assert.ok(Math.abs(errorMs) < 40, `${audio}: a beep ${errorMs} ms after the second`)
    }
  }
})

/** The camera's clock at time 0 of the file, Unix milliseconds, as burned into the first frame. */
async function readClock(file: string): Promise<number> {
  const { video } = await probe(file, { packets: 5 })
  const luma = await runFfmpeg('-i', file, '-frames:v', '1', '-pix_fmt', 'gray', '-f', 'rawvideo', '-')
  const code = readTimeCode(luma, 320, 180)
  assert.ok(code, 'a clock in the frame')
  return code.unixMs - video!.packets[0]!.ptsSeconds * 1000
}

/**
 * When whole beeps begin, in seconds since time 0 of the file. A camera that gets no CPU time skips audio, also the
 * beginning of a beep, and what is left of that beep would seem late.
 */
async function findBeeps(file: string): Promise<number[]> {
  const rate = 16_000
  const fromZero = `aresample=${rate}:async=1:first_pts=0`
  const raw = await runFfmpeg('-t', '12', '-i', file, '-vn', '-af', fromZero, '-ac', '1', '-f', 'f32le', '-')
  const samples = new Float32Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength))
  const beeps: { start: number; end: number }[] = []
  for (const [i, value] of samples.entries()) {
    if (Math.abs(value) < 0.08) continue
    const seconds = i / rate
    const last = beeps.at(-1)
    if (last && seconds - last.end < 0.5) last.end = seconds
    else beeps.push({ start: seconds, end: seconds })
  }
  // A whole beep is this loud for 0.11 s.
  return beeps.filter(({ start, end }) => start > 1 && end - start > 0.1).map(({ start }) => start)
}

async function runFfmpeg(...args: string[]): Promise<Buffer> {
  const options = { encoding: 'buffer', maxBuffer: 1e8, timeout: 60_000 } as const
  return (await promisify(execFile)('ffmpeg', ['-v', 'error', '-nostdin', ...args], options)).stdout
}

/** Frames without timestamps have their arrival time, and some arrive late on a busy machine. */
function checkArrivals({ video, complaints }: Probe, videoCodec: string): void {
  assert.deepEqual([video?.codec, withoutDiscontinuities(withoutEndOfImage(complaints))], [videoCodec, ''])
  checkIncreasing(video!, Number.POSITIVE_INFINITY)
}

function checkTracks({ video, audio, complaints }: Probe, videoCodec: string, audioCodec: string | undefined): void {
  const heard = videoCodec === 'mjpeg' ? withoutEndOfImage(complaints) : complaints
  assert.deepEqual([video?.codec, audio?.codec, heard], [videoCodec, audioCodec, ''])
  checkIncreasing(video!, maxStepSeconds)
  checkShown(video!, maxStepSeconds)
  if (audio) checkIncreasing(audio, maxStepSeconds)
}

/** Reported for some complete GStreamer frames, even in files written by FFmpeg itself (docs/design/formats.md). */
function withoutEndOfImage(complaints: string): string {
  return complaints.replaceAll(/^.*EOI missing, emulating\n?/gm, '').trim()
}

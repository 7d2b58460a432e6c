// Cameras without IDR frames, and one that reorders frames without timestamps, encoded by FFmpeg: gradual refresh, open
// groups of pictures, a bare stream with B-frames. Third-party players and Chromium play them live and recorded.

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { Camera } from '../../contract/camera.ts'
import { scanBoxes } from '../../server/media/mp4/box-scanner.ts'
import { parseFragmentSamples } from '../../server/media/mp4/fragment-samples.ts'
import { eventually, openServer } from '../server-under-test.ts'
import { openViewer } from './browser.ts'
import { type FfmpegCamera, openFfmpegCamera } from './ffmpeg-camera.ts'
import { checkIncreasing, probe } from './media-probe.ts'

const fps = 15
const gop = 15
const longGop = 48
/** Longer than the test plays. */
const clipSeconds = 90
const x264 = (options: string, keyint = gop) => [
  ...['-c:v', 'libx264', '-preset', 'veryfast', '-x264-params', `keyint=${keyint}:min-keyint=${keyint}:${options}`],
]
const x265 = (options: string) => [
  ...['-c:v', 'libx265', '-preset', 'ultrafast'],
  ...['-x265-params', `log-level=error:pools=1:keyint=${gop}:${options}`],
]
/** Without the frame that these streams begin with and never repeat. */
const withoutIdr = (types: string) => ['-bsf:v', `filter_units=remove_types=${types}`]

const cases = [
  {
    ...{ name: 'gradual refresh', type: 'h264', isSync: false, playsInChromium: true },
    output: [...x264('intra-refresh=1:bframes=0'), ...withoutIdr('5'), '-f', 'mpegts'],
  },
  {
    ...{ name: 'open groups', type: 'h264', isSync: false, playsInChromium: true },
    output: [...x264('open-gop=1:bframes=2:b-adapt=0:scenecut=0'), ...withoutIdr('5'), '-f', 'mpegts'],
  },
  {
    // Each group resets the decoder's references and begins with frame number 0.
    ...{ name: 'open groups of 16 references', type: 'h264', isSync: false, playsInChromium: true },
    output: [
      ...x264('open-gop=1:bframes=2:b-adapt=0:b-pyramid=none:scenecut=0', longGop),
      ...withoutIdr('5'),
      '-f',
      'mpegts',
    ],
  },
  {
    // H.265 decoders know CRA and RASL pictures; Debian's Chromium has no H.265 decoder.
    ...{ name: 'open groups of H.265', type: 'h265', isSync: true, playsInChromium: false },
    output: [...x265('open-gop=1:bframes=2:b-adapt=0'), ...withoutIdr('19|20'), '-f', 'mpegts'],
  },
  {
    ...{ name: 'bare with B-frames', type: 'h264', isSync: true, playsInChromium: true },
    output: [...x264('bframes=2:b-adapt=0:scenecut=0'), '-f', 'h264'],
  },
]

/**
 * FFmpeg's decoder reports this where a stream begins at an open group that removes a reference to an earlier frame.
 */
const harmless = /^.*mmco: unref short failure\n?/gm

/** Times of the decoded frames in output order, and the decoder's complaints. */
async function decodeTimes(source: string): Promise<{ times: number[]; complaints: string }> {
  const args = ['-v', 'error', '-select_streams', 'v', '-show_entries', 'frame=pts_time', '-of', 'csv=p=0', source]
  const { stdout, stderr } = await promisify(execFile)('ffprobe', args, { maxBuffer: 1e8, timeout: 90_000 })
  return { times: (stdout.match(/^[\d.]+/gm) ?? []).map(Number), complaints: stderr.replaceAll(harmless, '').trim() }
}

function checkOrder(times: readonly number[], what: string): void {
  for (const [i, time] of times.entries()) {
    if (i > 0) assert.ok(time > times[i - 1]!, `${what}: ${time} s is shown after ${times[i - 1]} s`)
  }
}

test('unusual streams come online, are shown and are recorded in order', async () => {
  await using opened = new AsyncDisposableStack()
  const sources = new Map<string, FfmpegCamera>()
  for (const { name, output } of cases) {
    sources.set(name, opened.use(await openFfmpegCamera({ fps, output, type: 'video/mp2t', clipSeconds })))
  }
  const server = opened.use(await openServer())
  const ids = new Map<string, number>()
  const read = async (name: string) => (await server.request<Camera>(`/v1/cameras/${ids.get(name)}/`)).json
  for (const { name, type } of cases) {
    const body = { name, url: sources.get(name)!.url, type }
    const { json, text } = await server.request<{ id: number }>('/v1/cameras/', { method: 'POST', body })
    assert.ok(json.id, text)
    ids.set(name, json.id)
    const recording = `/v1/cameras/${json.id}/recording/`
    assert.equal((await server.request(recording, { method: 'POST', body: { retention: 'P7D' } })).status, 201)
  }
  for (const { name } of cases) {
    await eventually(`${name} is online`, 30_000, async () => (await read(name)).status === 'online')
  }
  const urlOf = (camera: Camera, format: string) => camera.streams.find((each) => each.format === format)!.url
  const checkLive = async (name: string) => {
    const camera = await read(name)
    const [mp4, mpegts] = await Promise.all([
      probe(urlOf(camera, 'mp4'), { seconds: 3 }),
      probe(urlOf(camera, 'mpegts'), { seconds: 3 }),
    ])
    for (const { video, complaints } of [mp4, mpegts]) {
      assert.equal(complaints, '', name)
      checkIncreasing(video!, 2)
    }
    const { pathname, search } = new URL(camera.live_snapshot)
    const snapshot = await server.request(pathname + search, { authorization: null })
    assert.equal(snapshot.status, 200, snapshot.text)
    await checkLike(snapshot.bytes, name)
  }
  await Promise.all(cases.map(({ name }) => checkLive(name)))

  const play = async (name: string) => {
    await playInChromium(urlOf(await read(name), 'hls'), `live ${name}`)
    const start = new Date(Date.now() - 8000).toISOString()
    const path = `/v1/cameras/${ids.get(name)}/recording/stream/?start=${start}`
    const { json, text } = await server.request<{ url: string }>(path)
    assert.ok(json.url, text)
    await playInChromium(json.url, `recorded ${name}`)
  }
  await Promise.all(cases.filter(({ playsInChromium }) => playsInChromium).map(({ name }) => play(name)))

  for (const source of sources.values()) source.end()
  for (const [name, source] of sources) {
    await eventually(`${name} has ended`, 30_000, async () => source.sent().ended)
    await eventually(`${name} is offline`, 60_000, async () => (await read(name)).status === 'offline')
  }
  for (const { name } of cases) {
    const path = `/v1/cameras/${ids.get(name)}/recording`
    const { json: recording } = await server.request<{ recording_start: string }>(`${path}/`)
    const { json, text } = await server.request<{ url: string }>(`${path}/pictures/`)
    assert.ok(json.url, text)
    const url = new URL(json.url)
    url.searchParams.set('at', new Date(Date.parse(recording.recording_start) + 4000).toISOString())
    const image = await server.request(url.pathname + url.search, { authorization: null })
    assert.equal(image.status, 200, image.text)
    await checkLike(image.bytes, name)
  }
  assert.equal(await server.stop(), 0)
  for (const { name, isSync } of cases) {
    const files = globSync(join(server.dataDir, `archive/cameras/${ids.get(name)}/**/*.mp4`)).sort()
    let count = 0
    for (const file of files) {
      const [{ video, complaints }, decoded] = await Promise.all([probe(file), decodeTimes(file)])
      assert.deepEqual([complaints, decoded.complaints], ['', ''], name)
      checkIncreasing(video!, Number.POSITIVE_INFINITY) // an encoder that gets no time leaves frames out
      checkOrder(decoded.times, name)
      count += video!.packets.length
    }
    const { frames } = sources.get(name)!.sent()
    assert.ok(
      count > frames - 2 * longGop && count <= frames,
      `${name}: ${count} of ${frames} in ${files.length} files`,
    )
    const { sync, frames: inFile } = await countSync(files[0]!)
    // Every group begins with one. Fragments may be shorter than a group if the encoder gets no CPU time.
    if (isSync) assert.ok(sync >= Math.floor(inFile / gop), `${name}: ${sync} sync samples in ${inFile} frames`)
    else assert.equal(sync, 0, `${name}: sync samples in ${inFile} frames`)
  }
})

async function playInChromium(url: string, what: string): Promise<void> {
  await using viewer = await openViewer({ recorded: url })
  const read = () =>
    viewer.page.evaluate<{ seconds: number; frames: number; errors: string[] }>(`(() => {
      const video = document.querySelector('video')
      const { currentTime: seconds } = video
      return { seconds, frames: video.getVideoPlaybackQuality().totalVideoFrames, errors: window.errors }
    })()`)
  const isPlaying = async (frames: number) => {
    const now = await read()
    assert.ok(!now.errors.some((error) => error.includes('fatal')), `${what}: ${now.errors}`)
    return now.frames > frames && now
  }
  const first = await eventually(`${what} begins in Chromium`, 30_000, () => isPlaying(0))
  await eventually(`${what} goes on`, 20_000, () => isPlaying(first.frames + 3 * fps))
}

/** Compares with the test pattern: a frame that is only partly refreshed differs elsewhere by a hundred and more. */
async function checkLike(jpeg: Uint8Array, name: string): Promise<void> {
  const expected = await readColours(['-f', 'lavfi', '-i', `testsrc2=size=320x240:rate=${fps}`])
  const found = await readColours(['-f', 'mjpeg', '-i', 'pipe:0'], jpeg)
  assert.equal(found.length, expected.length, name)
  const errors = expected.map((value, i) => Math.abs(value - found[i]!))
  const off = errors.filter((error) => error > 60).length
  // A few parts of the pattern move.
  assert.ok(off < errors.length / 5, `${name}: ${off} of ${errors.length} values differ`)
}

async function readColours(input: readonly string[], bytes?: Uint8Array): Promise<number[]> {
  const child = spawn(
    'ffmpeg',
    [
      ...['-v', 'error'],
      ...input,
      ...['-frames:v', '1', '-vf', 'scale=16:12:flags=area', '-pix_fmt', 'rgb24', '-f', 'rawvideo', '-'],
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  child.stdin.end(bytes)
  return [...(await buffer(child.stdout))]
}

/** Number of frames in a file, and how many of them are marked as sync samples. */
async function countSync(file: string): Promise<{ sync: number; frames: number }> {
  const bytes = await readFile(file)
  const moofs = scanBoxes(bytes).boxes.filter(({ type }) => type === 'moof')
  const tracks = moofs.map((moof) => parseFragmentSamples(bytes.subarray(moof.offset, moof.offset + moof.bytes))[0]!)
  const marks = tracks.flatMap(({ isKey }) => [...isKey])
  return { sync: marks.filter(Boolean).length, frames: marks.length }
}

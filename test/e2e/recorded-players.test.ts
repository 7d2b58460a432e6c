// Recorded streams in third-party players: hls.js in Chromium over gaps and a change of resolution, at 4x speed and
// with seeks; downloads in a video element; FFmpeg and mpv. The burned-in clock identifies each frame.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempDisposable, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { readTimeCode, type TimeCode } from '../fake-camera/time-code.ts'
import { recordClock } from '../playback/clock-footage.ts'
import { eventually, openServerHere, type ServerUnderTest } from '../server-under-test.ts'
import { launchChromium, readClock } from './browser.ts'
import { type ClockScene, jumpAround, openStream, playAtFour, playKeyFrames } from './clock-player.ts'

const run = promisify(execFile)

let server: ServerUnderTest
let scene: ClockScene

before(async () => {
  server = await openServerHere()
  // Hours ago, so that the footage is final. The recorder begins a new file of camera 1 at second 37 of a minute: from
  // second 40, each clip is one file.
  const startMs = Math.floor(Date.now() / 60_000) * 60_000 - 6 * 3_600_000 + 40_000
  const clips = [
    { startMs, seconds: 26 },
    { startMs: startMs + 100_000, seconds: 9 },
    { startMs: startMs + 200_000, seconds: 9, width: 480, height: 270 },
    { startMs: startMs + 300_000, seconds: 12, width: 480, height: 270 },
  ]
  scene = { server, cameraId: await recordClock(server, clips), clips }
})

after(async () => {
  await server[Symbol.asyncDispose]()
})

test('hls.js plays across three gaps and a change of resolution at 4x speed', async () => {
  await playAtFour(scene)
})

test('hls.js seeks to any moment and the burned-in clock is right each time', async () => {
  await jumpAround(scene, 6)
})

test('hls.js plays key frames at speed 8 and its clock keeps up', async () => {
  await playKeyFrames(scene, 8)
})

for (const player of ['ffmpeg', 'mpv'])
  test(`${player} plays a stream without end from its start, also by key frames`, async () => {
    const { startMs } = scene.clips[0]!
    const seconds = 5
    for (const speed of [1, 4]) {
      // mpv would wait for more data to detect the frame rate, which never comes.
      const end = speed === 1 ? {} : { endMs: startMs + 26_000 }
      const { url } = await openStream(scene, { startMs: startMs + 5000, speed, ...end })
      const codes = await decodeWith(player, url, seconds)
      const [first] = codes
      assert.ok(first && Math.abs(first.unixMs - startMs - 5000) < 1000, `begins with ${first?.unixMs}`)
      const playedMs = codes.at(-1)!.unixMs - first.unixMs
      // Key frames may be seconds apart.
      assert.ok(playedMs > seconds * 1000 * speed * 0.6 && playedMs <= seconds * 1000 * speed, `${playedMs} ms`)
    }
  })

/** The clocks of all frames displayed within this many seconds. */
async function decodeWith(player: string, url: string, seconds: number): Promise<TimeCode[]> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'nightjar-player-'))
  const file = join(folder.path, 'frames.yuv')
  const own = ['-v', 'error', '-ca_file', server.caFile, '-tls_verify', '1', '-i', url, '-t', String(seconds)]
  const mpv = ['--no-config', '--really-quiet', `--tls-ca-file=${server.caFile}`, '--tls-verify=yes', '--no-audio', url]
  const args =
    player === 'mpv'
      ? [...mpv, `--length=${seconds}`, `--o=${file}`, '--of=rawvideo', '--ovc=rawvideo']
      : [...own, '-fps_mode', 'passthrough', '-f', 'rawvideo', '-pix_fmt', 'yuv420p', file]
  await run(player, args, { timeout: 120_000 })
  const bytes = await readFile(file)
  const luma = 320 * 180
  const frames = Math.floor(bytes.length / (luma * 1.5))
  const at = (i: number) => bytes.subarray(i * luma * 1.5, i * luma * 1.5 + luma)
  return Array.from({ length: frames }, (_, i) => readTimeCode(at(i), 320, 180)).filter((code) => code !== undefined)
}

test('a download plays in chromium and begins at the requested moment', async () => {
  const startMs = scene.clips[0]!.startMs + 7400
  const range = `start=${new Date(startMs).toISOString()}&end=${new Date(startMs + 10_000).toISOString()}`
  const path = `/v1/cameras/${scene.cameraId}/recording/download/?${range}`
  const { url } = (await server.request<{ url: string }>(path)).json
  await using browser = await launchChromium()
  const page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage()
  await page.goto(new URL('/healthz', url).href)
  await page.setContent(`<video muted src="${url}"></video>`)
  const first = await eventually('the first frame', 10_000, () => readClock(page, 'video'))
  assert.ok(Math.abs(first.code.unixMs - startMs) <= 200, `${first.code.unixMs - startMs} ms`)
  assert.ok(Math.abs((await page.evaluate<number>('document.querySelector("video").duration')) - 10) < 0.3)
  await page.evaluate(`new Promise((resolve, reject) => {
    const video = document.querySelector('video')
    video.onended = () => resolve()
    video.onerror = () => reject(new Error(video.error.message))
    video.playbackRate = 4
    video.play().catch(reject)
  })`)
  const last = await readClock(page, 'video')
  assert.ok(last && Math.abs(last.code.unixMs - startMs - 10_000) <= 400)
})

/** Prints, for each file, its length in seconds, whether players can seek in it, and the size of its video. */
const discover = `
import json, sys, gi
gi.require_version('GstPbutils', '1.0')
from gi.repository import Gst, GstPbutils
Gst.init(None)
discoverer = GstPbutils.Discoverer.new(20 * Gst.SECOND)
for path in sys.argv[1:]:
    found = discoverer.discover_uri(Gst.filename_to_uri(path))
    [video] = found.get_video_streams()
    print(json.dumps([found.get_duration() / Gst.SECOND, found.get_seekable(), video.get_width()]))
`

test('GStreamer, FFmpeg and mpv know the length of closed files and of a download, and seek in them', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'nightjar-files-'))
  const archive = join(server.dataDir, 'archive')
  const names = (await readdir(archive, { recursive: true })).filter((name) => name.endsWith('.mp4')).sort()
  const first = scene.clips[0]!
  const range = `start=${new Date(first.startMs + 2000).toISOString()}&end=${new Date(first.startMs + 22_000).toISOString()}`
  const path = `/v1/cameras/${scene.cameraId}/recording/download/?${range}`
  const download = join(folder.path, 'download.mp4')
  const { url } = (await server.request<{ url: string }>(path)).json
  const query = new URL(url)
  await writeFile(download, (await server.request(query.pathname + query.search, { authorization: null })).bytes)
  const files = [download, ...names.map((name) => join(archive, name))]
  const expected = [{ seconds: 20, width: 320 }, ...scene.clips.map(({ seconds, width = 320 }) => ({ seconds, width }))]
  assert.equal(files.length, expected.length, names.join())
  const { stdout } = await run('/usr/bin/python3', ['-c', discover, ...files])
  const found = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as [number, boolean, number])
  for (const [i, { seconds, width }] of expected.entries()) {
    const [length, isSeekable, foundWidth] = found[i]!
    // Of a fragmented file, GStreamer counts up to the beginning of the last fragment.
    assert.ok(Math.abs(length - seconds) <= (i === 0 ? 0.5 : 1.1), `GStreamer: ${files[i]} lasts ${length} s`)
    assert.deepEqual([isSeekable, foundWidth], [true, width])
    const probed = await run('ffprobe', [
      '-v',
      'error',
      '-show_entries',
      'format=duration',
      '-of',
      'csv=p=0',
      files[i]!,
    ])
    assert.ok(Math.abs(Number(probed.stdout) - seconds) <= 0.5, `FFmpeg: ${files[i]} lasts ${probed.stdout} s`)
    // The last three seconds alone.
    const frames = join(folder.path, 'frames.yuv')
    const quiet = ['--no-config', '--really-quiet', '--no-audio', `--start=${seconds - 3}`]
    await run('mpv', [...quiet, `--o=${frames}`, '--of=rawvideo', '--ovc=rawvideo', files[i]!])
    const { size } = await stat(frames)
    const count = size / (width * ((width * 9) / 16) * 1.5)
    assert.ok(count >= 12 && count <= 30, `mpv: ${count} frames of the end of ${files[i]}`)
  }
})

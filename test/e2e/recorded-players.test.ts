// Recorded streams in third-party players: hls.js in Chromium over gaps and a change of resolution, at 4x speed and
// with seeks; downloads in a video element; FFmpeg and mpv. The burned-in clock identifies each frame.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { readTimeCode, type TimeCode } from '../fake-camera/time-code.ts'
import { recordClock } from '../playback/clock-footage.ts'
import { eventually, openServerHere, type ServerUnderTest } from '../server-under-test.ts'
import { launchChromium, readClock } from './browser.ts'
import { type ClockScene, jumpAround, openStream, playAtFour, playKeyFrames } from './clock-player.ts'

let server: ServerUnderTest
let scene: ClockScene

before(async () => {
  server = await openServerHere()
  // Hours ago, so that the footage is final.
  const startMs = Math.floor(Date.now() / 1000) * 1000 - 6 * 3_600_000
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

test('hls.js plays across three gaps and a change of resolution at 4x speed', {
  timeout: 90_000,
}, async () => {
  await playAtFour(scene)
})

test('hls.js seeks to any moment and the burned-in clock is right each time', { timeout: 60_000 }, async () => {
  await jumpAround(scene, 6)
})

test('hls.js plays key frames at speed 8 and its clock keeps up', { timeout: 60_000 }, async () => {
  await playKeyFrames(scene, 8)
})

for (const player of ['ffmpeg', 'mpv'])
  test(`${player} plays a stream without end from its start, also by key frames`, { timeout: 60_000 }, async () => {
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
  await promisify(execFile)(player, args, { timeout: 40_000 })
  const bytes = await readFile(file)
  const luma = 320 * 180
  const frames = Math.floor(bytes.length / (luma * 1.5))
  const at = (i: number) => bytes.subarray(i * luma * 1.5, i * luma * 1.5 + luma)
  return Array.from({ length: frames }, (_, i) => readTimeCode(at(i), 320, 180)).filter((code) => code !== undefined)
}

test('a download plays in chromium and begins at the requested moment', { timeout: 60_000 }, async () => {
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

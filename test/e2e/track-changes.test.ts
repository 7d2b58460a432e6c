// Recordings whose tracks change: without audio, AAC, Opus, AAC at another rate, another resolution. hls.js in Chromium
// plays across all changes in any order. The burned-in clock identifies each frame.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { parseAudioSpecificConfig, writeAudioSpecificConfig } from '../../server/media/aac/audio-specific-config.ts'
import type { AudioFormat } from '../../server/media/frame.ts'
import { opusSampleRate, writeOpusConfig } from '../../server/media/opus/opus-packet.ts'
import { addClock, type ClockClip, recordClock } from '../playback/clock-footage.ts'
import { eventually, openServerHere, type ServerUnderTest } from '../server-under-test.ts'
import { launchChromium, openViewer, readClock } from './browser.ts'
import { type ClockScene, jumpAround, openStream, playAtFour } from './clock-player.ts'
import { decode, probe } from './media-probe.ts'

const opus: AudioFormat = {
  ...{ codec: 'opus', codecString: 'opus', sampleRate: opusSampleRate, channels: 2 },
  config: writeOpusConfig(2),
}

function aac(sampleRate: number, channels: number): AudioFormat {
  const config = writeAudioSpecificConfig({ sampleRate, channels })
  const { objectType } = parseAudioSpecificConfig(config)
  return { codec: 'aac', sampleRate, channels, config, codecString: `mp4a.40.${objectType}` }
}

const tracks: readonly Pick<ClockClip, 'audio' | 'width' | 'height'>[] = [
  {},
  { audio: aac(16_000, 1) },
  {},
  { audio: opus },
  { audio: aac(44_100, 2) },
  { width: 480, height: 270 },
  { audio: aac(8000, 1), width: 480, height: 270 },
]

let server: ServerUnderTest
let scene: ClockScene

before(async () => {
  server = await openServerHere()
  const startMs = Math.floor(Date.now() / 1000) * 1000 - 6 * 3_600_000
  const clips = tracks.map((track, i) => ({ startMs: startMs + i * 30_000, seconds: 8, ...track }))
  scene = { server, cameraId: await recordClock(server, clips), clips }
})

after(async () => {
  await server[Symbol.asyncDispose]()
})

test('hls.js plays across every change of tracks', async () => {
  assert.deepEqual(
    (await playAtFour(scene)).errors.filter((error) => error !== 'bufferStalledError'),
    [],
  )
})

test('hls.js seeks between any two sets of tracks', async () => {
  await jumpAround(scene, 10)
})

test('a download across every change of tracks plays completely in chromium and decodes in FFmpeg and mpv', async () => {
  const startMs = scene.clips[0]!.startMs + 1000
  const last = scene.clips.at(-1)!
  const endMs = last.startMs + last.seconds * 1000 - 1000
  const time = (ms: number) => new Date(ms).toISOString()
  const path = `/v1/cameras/${scene.cameraId}/recording/download/?start=${time(startMs)}&end=${time(endMs)}`
  const { json, status, text } = await server.request<{ url: string }>(path)
  assert.equal(status, 200, text)
  await using folder = await mkdtempDisposable(join(tmpdir(), 'nightjar-tracks-'))
  const file = join(folder.path, 'download.mp4')
  await writeFile(file, (await server.request(json.url, { authorization: null })).bytes)
  assert.equal((await probe(file)).complaints, '')
  await decode(file)
  await promisify(execFile)('mpv', [
    '--no-config',
    '--msg-level=all=error',
    '--vo=null',
    '--ao=null',
    '--ao-null-untimed',
    '--untimed',
    file,
  ])
  await using browser = await launchChromium()
  const page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage()
  await page.goto(new URL('/healthz', json.url).href)
  await page.setContent(`<video muted src="${json.url}"></video>`)
  await eventually('the first frame', 20_000, () => readClock(page, 'video'))
  await page.evaluate(`(() => {
    const video = document.querySelector('video')
    video.playbackRate = 4
    video.play()
  })()`)
  await eventually('the end', 60_000, async () => {
    const state = await page.evaluate<{ error: string | null; ended: boolean }>(
      "(() => { const v = document.querySelector('video'); return { error: v.error && v.error.message, ended: v.ended } })()",
    )
    assert.equal(state.error, null)
    return state.ended
  })
  let seconds = -1
  for (const clip of scene.clips) {
    await page.evaluate(`document.querySelector('video').currentTime = ${seconds + clip.seconds / 2}`)
    await eventually('a frame of each clip', 20_000, async () => {
      const unixMs = (await readClock(page, 'video'))?.code.unixMs ?? 0
      return unixMs >= clip.startMs && unixMs < clip.startMs + clip.seconds * 1000
    })
    seconds += clip.seconds
  }
})

test('a download of H.264 and H.265 contains both in separate tracks', async () => {
  const startMs = scene.clips[0]!.startMs - 7_200_000
  const clips: ClockClip[] = [
    { startMs, seconds: 8 },
    { startMs: startMs + 30_000, seconds: 8, codec: 'h265', audio: aac(16_000, 1) },
    { startMs: startMs + 60_000, seconds: 8, width: 480, height: 270 },
    { startMs: startMs + 90_000, seconds: 8, width: 480, height: 270, codec: 'h265' },
  ]
  const cameraId = await recordClock(server, clips)
  const time = (ms: number) => new Date(ms).toISOString()
  const path = `/v1/cameras/${cameraId}/recording/download/?start=${time(startMs)}&end=${time(startMs + 98_000)}`
  const { json, status, text } = await server.request<{ url: string }>(path)
  assert.equal(status, 200, text)
  await using folder = await mkdtempDisposable(join(tmpdir(), 'nightjar-tracks-'))
  const file = join(folder.path, 'download.mp4')
  await writeFile(file, (await server.request(new URL(json.url).pathname, { authorization: null })).bytes)
  const run = promisify(execFile)
  const count = ['-v', 'error', '-count_frames', '-show_entries', 'stream=codec_name,nb_read_frames', '-of', 'csv=p=0']
  const { stdout, stderr } = await run('ffprobe', [...count, file])
  assert.equal(stderr, '')
  const lines = stdout.trim().split('\n')
  assert.deepEqual(lines.slice(0, 2), ['h264,80', 'hevc,80'])
  assert.match(lines[2]!, /^aac,/)
  assert.equal((await run('ffmpeg', ['-v', 'error', '-i', file, '-map', '0', '-f', 'null', '-'])).stderr, '')
})

test('a stream that began without audio continues without audio when the camera adds it', async () => {
  const startMs = scene.clips[0]!.startMs - 3_600_000
  const silent: ClockClip[] = [{ startMs, seconds: 8 }]
  const cameraId = await recordClock(server, silent)
  const { url } = await openStream({ server, cameraId }, { startMs })
  await addClock(server, cameraId, [
    { startMs: startMs + 30_000, seconds: 8, audio: aac(16_000, 1) },
    { startMs: startMs + 60_000, seconds: 8 },
  ])
  const path = new URL(url, server.url)
  const { text } = await server.request(new URL(path.pathname, server.url).href, { authorization: null })
  assert.ok(text.includes('.mp4'))
  await using viewer = await openViewer({ recorded: new URL(path.pathname, server.url).href })
  await eventually('a frame', 20_000, () => viewer.readClock('video'))
  await viewer.page.evaluate("document.querySelector('video').playbackRate = 2")
  await eventually('a frame of the last clip', 40_000, async () => {
    const read = await viewer.readClock('video')
    return read !== undefined && read.code.unixMs > startMs + 65_000
  })
  assert.deepEqual(
    (await viewer.page.evaluate<string[]>('errors')).filter((error) => error !== 'bufferStalledError'),
    [],
  )
})

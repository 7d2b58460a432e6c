// A camera whose audio begins late, stops and restarts, watched live and recorded in hls.js and downloaded. The
// burned-in clock identifies each frame; the audio of the download is checked second by second.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Camera } from '../../contract/camera.ts'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServerHere, type ServerUnderTest } from '../server-under-test.ts'
import { type Clock, checkErrors, launchChromium, openViewer, readClock } from './browser.ts'
import { openStream } from './clock-player.ts'
import { decode, probe } from './media-probe.ts'

export type AudioRun = {
  /** Length of the footage and of live viewing. */
  readonly seconds: number
  /** Audio is off, on, off, … for this long each. */
  readonly toggleSeconds: number
}

export type AudioReport = {
  readonly seconds: number
  readonly toggles: number
  readonly liveLooks: number
  readonly recordedLooks: number
  /** Longest time that the live clock did not advance. */
  readonly longestStandstillMs: number
  readonly worstClockErrorMs: number
  readonly loudSeconds: number
  readonly silentSeconds: number
  /** Errors of hls.js, live and recorded. */
  readonly errors: readonly string[]
}

type Mute = { readonly atMs: number; readonly isMuted: boolean }
type Measure = { looks: number; worstClockErrorMs: number; longestStandstillMs: number; errors: string[] }
type Scene = { readonly server: ServerUnderTest; readonly cameraId: number }

/** The server derives a frame's time from its arrival, and a busy machine renders and sends it late. */
const tolerableMs = 1000
const maxStandstillMs = 10_000
const playbackRate = 4

/** Throws if anything is not as expected. */
export async function watchAudio({ seconds, toggleSeconds }: AudioRun): Promise<AudioReport> {
  const yard = { name: 'yard', width: 480, height: 270, framesPerSecond: 15, gopFrames: 15, hasAudio: true } as const
  await using camera = await openFakeCamera({ streams: [yard] })
  camera.faults.muteAudio(true)
  await using server = await openServerHere()
  const cameraId = await server.addCamera('Yard', camera.url('yard'), '--record', 'P1D')
  const scene = { server, cameraId }
  const startMs = await eventually('footage', 30_000, () => findStart(scene))
  const mutes: Mute[] = [{ atMs: startMs - 10_000, isMuted: true }]
  const untilMs = Date.now() + seconds * 1000
  const toggling = toggleAudio(camera, toggleSeconds, untilMs, mutes)
  const live = await watchLive(scene, untilMs)
  await toggling
  const range = { startMs: startMs + 1000, endMs: untilMs - 3000 }
  const recorded = await playRecorded(scene, range)
  const heard = await checkDownload(scene, range, mutes)
  return {
    seconds,
    toggles: mutes.length - 1,
    liveLooks: live.looks,
    recordedLooks: recorded.looks,
    longestStandstillMs: Math.round(live.longestStandstillMs),
    worstClockErrorMs: Math.max(live.worstClockErrorMs, recorded.worstClockErrorMs),
    ...heard,
    errors: [...live.errors, ...recorded.errors],
  }
}

async function findStart({ server, cameraId }: Scene): Promise<number | undefined> {
  const { json } = await server.request<{ recording_start: string | null }>(`/v1/cameras/${cameraId}/recording/`)
  return json.recording_start === null ? undefined : Date.parse(json.recording_start)
}

async function toggleAudio(camera: FakeCamera, seconds: number, untilMs: number, mutes: Mute[]): Promise<void> {
  for (;;) {
    await setTimeout(seconds * 1000)
    if (Date.now() >= untilMs) return
    const isMuted = !mutes.at(-1)!.isMuted
    camera.faults.muteAudio(isMuted)
    mutes.push({ atMs: Date.now(), isMuted })
  }
}

async function watchLive({ server, cameraId }: Scene, untilMs: number): Promise<Measure> {
  const { json } = await server.request<Camera>(`/v1/cameras/${cameraId}/`)
  await using viewer = await openViewer({ recorded: json.streams.find(({ format }) => format === 'hls')!.url })
  await eventually('a live frame', 30_000, () => viewer.readClock('video'))
  const measure = { looks: 0, worstClockErrorMs: 0, longestStandstillMs: 0 }
  let last = { unixMs: 0, atMs: Date.now() }
  while (Date.now() < untilMs) {
    await setTimeout(250)
    const read = await viewer.readClock('video')
    if (!read) continue
    measure.looks++
    noteClock(measure, read)
    assert.ok(read.code.unixMs >= last.unixMs, 'the live clock does not go back')
    measure.longestStandstillMs = Math.max(measure.longestStandstillMs, Date.now() - last.atMs)
    assert.ok(measure.longestStandstillMs < maxStandstillMs, 'the live frame stands still')
    if (read.code.unixMs > last.unixMs) last = { unixMs: read.code.unixMs, atMs: Date.now() }
  }
  return { ...measure, errors: await checkErrors(viewer.page, { isLive: true }) }
}

async function playRecorded(scene: Scene, range: { startMs: number; endMs: number }): Promise<Measure> {
  const { url } = await openStream(scene, range)
  const playlist = (await scene.server.request(url, { authorization: null })).text
  assert.ok(!playlist.includes('EXT-X-DISCONTINUITY\n'), 'audio that comes and goes begins no run')
  await using viewer = await openViewer({ recorded: url })
  await eventually('a recorded frame', 30_000, () => viewer.readClock('video'))
  await viewer.page.evaluate(`document.querySelector('video').playbackRate = ${playbackRate}`)
  const measure = { looks: 0, worstClockErrorMs: 0, longestStandstillMs: 0 }
  let lastMs = 0
  const playMs = (range.endMs - range.startMs) / playbackRate
  await eventually('the last recorded frame', playMs * 2 + 30_000, async () => {
    const read = await viewer.readClock('video')
    if (!read) return false
    measure.looks++
    noteClock(measure, read)
    assert.ok(read.code.unixMs >= lastMs, 'the recorded clock does not go back')
    lastMs = read.code.unixMs
    return lastMs > range.endMs - 1500
  })
  return { ...measure, errors: await checkErrors(viewer.page) }
}

function noteClock(measure: { worstClockErrorMs: number }, { code, playingMs, shownMs }: Clock): void {
  if (playingMs === undefined) return
  const errors = [playingMs, shownMs ?? playingMs].map((ms) => Math.abs(code.unixMs - ms))
  const errorMs = Math.round(Math.min(...errors))
  measure.worstClockErrorMs = Math.max(measure.worstClockErrorMs, errorMs)
  assert.ok(errorMs < tolerableMs, `the clock in the frame differs by ${errorMs} ms`)
}

/** FFmpeg and Chromium play it completely, and every second of audio is as it was sent. */
async function checkDownload(
  { server, cameraId }: Scene,
  { startMs, endMs }: { startMs: number; endMs: number },
  mutes: readonly Mute[],
): Promise<Pick<AudioReport, 'loudSeconds' | 'silentSeconds'>> {
  const time = (ms: number) => new Date(ms).toISOString()
  const path = `/v1/cameras/${cameraId}/recording/download/?start=${time(startMs)}&end=${time(endMs)}`
  const { json, status, text } = await server.request<{ url: string }>(path)
  assert.equal(status, 200, text)
  await using folder = await mkdtempDisposable(join(tmpdir(), 'nightjar-audio-'))
  const file = join(folder.path, 'download.mp4')
  await writeFile(file, (await server.request(json.url, { authorization: null })).bytes)
  const { complaints, audio } = await probe(file)
  assert.equal(complaints, '')
  assert.ok(audio)
  await decode(file)
  await playDownload(json.url, (endMs - startMs) / 1000)
  return checkLoudness(await readSamples(file), startMs, mutes)
}

async function playDownload(url: string, seconds: number): Promise<void> {
  await using browser = await launchChromium()
  const page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage()
  await page.goto(new URL('/healthz', url).href)
  await page.setContent(`<video muted src="${url}"></video>`)
  await eventually('the first frame of the download', 30_000, () => readClock(page, 'video'))
  assert.ok(Math.abs((await page.evaluate<number>('document.querySelector("video").duration')) - seconds) < 0.5)
  page.setDefaultTimeout(0)
  await page.evaluate(`new Promise((resolve, reject) => {
    const video = document.querySelector('video')
    video.onended = () => resolve()
    video.onerror = () => reject(new Error(video.error.message))
    video.playbackRate = ${playbackRate}
    video.play().catch(reject)
  })`)
}

const samplesPerSecond = 8000

async function readSamples(file: string): Promise<Float32Array> {
  const raw = `${file}.f32`
  const options = ['-v', 'error', '-i', file, '-map', '0:a', '-ac', '1', '-ar', String(samplesPerSecond), '-f', 'f32le']
  await promisify(execFile)('ffmpeg', [...options, raw])
  const bytes = await readFile(raw)
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
}

/** The camera beeps at the beginning of each second while it is not muted. */
function checkLoudness(
  samples: Float32Array,
  startMs: number,
  mutes: readonly Mute[],
): Pick<AudioReport, 'loudSeconds' | 'silentSeconds'> {
  const heard = { loudSeconds: 0, silentSeconds: 0 }
  const firstMs = Math.ceil(startMs / 1000) * 1000 + 1000
  for (let ms = firstMs; ((ms + 1000 - startMs) * samplesPerSecond) / 1000 < samples.length; ms += 1000) {
    if (mutes.some(({ atMs }) => Math.abs(atMs - ms) < 2000)) continue
    const from = Math.round(((ms - 200 - startMs) * samplesPerSecond) / 1000)
    const part = samples.subarray(from, from + 0.6 * samplesPerSecond)
    const loudest = part.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
    const { isMuted } = mutes.findLast(({ atMs }) => atMs <= ms)!
    assert.ok(isMuted ? loudest < 0.001 : loudest > 0.05, `second ${(ms - startMs) / 1000}: ${isMuted}, ${loudest}`)
    if (isMuted) heard.silentSeconds++
    else heard.loudSeconds++
  }
  return heard
}

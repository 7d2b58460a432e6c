import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AudioClock } from './audio-clock.ts'
import { WallClock } from './wall-clock.ts'

const startMs = 1_700_000_000_000

type Scene = {
  seconds: number
  audioPpm?: number
  audioDelayMs?: number
  hasRtpInfo?: boolean
  rtpInfoErrorMs?: number
  /** The error of the n-th sender report. Reports are sent every five seconds. */
  reportErrorMs?: (index: number) => number
  /** How much later than usual what was taken at `ms` is sent. */
  lateMs?: (ms: number) => number
}

/**
 * Plays video and audio of the same moments. Returns the error of the audio's position in milliseconds, once per
 * second.
 */
function play(scene: Scene): number[] {
  const { seconds, audioPpm = 0, audioDelayMs = 0, hasRtpInfo = false, rtpInfoErrorMs = 0, reportErrorMs } = scene
  const { lateMs = () => 0 } = scene
  const video = new WallClock()
  const audio = new AudioClock(video)
  const errors: number[] = []
  let lastPts90k = -1
  let lastWallMs = 0
  for (let ms = 0; ms < seconds * 1000; ms += 40) {
    const sentMs = startMs + ms + lateMs(ms)
    video.map(500_000 + ms * 90, sentMs)
    if (ms === 0) {
      video.beginRun()
      if (hasRtpInfo) audio.alignTo(7_000_000, 500_000 / 90 + rtpInfoErrorMs)
    }
    const audioMs = 7_000_000 + ms * (1 + audioPpm / 1e6)
    if (ms % 5000 === 0 && reportErrorMs) audio.follow(audioMs, 500_000 / 90 + ms + reportErrorMs(ms / 5000))
    const isPlaced = audio.map(audioMs, sentMs + audioDelayMs)
    assert.ok(isPlaced)
    assert.ok(audio.pts90k > lastPts90k && audio.wallMs >= lastWallMs)
    lastPts90k = audio.pts90k
    lastWallMs = audio.wallMs
    if (ms % 1000 === 0) errors.push((audio.pts90k - video.pts90k) / 90)
  }
  return errors
}

const worst = (errors: number[]) => Math.max(...errors.map(Math.abs))

test('audio without RTP-Info is placed by its arrival time', () => {
  assert.ok(worst(play({ seconds: 60 })) < 1)
  assert.ok(Math.abs(worst(play({ seconds: 60, audioDelayMs: 150 })) - 150) < 1)
})

test('audio that is sent late is placed correctly with RTP-Info', () => {
  assert.ok(worst(play({ seconds: 60, audioDelayMs: 150, hasRtpInfo: true })) < 1)
})

test('an implausible RTP-Info is ignored', () => {
  assert.ok(worst(play({ seconds: 60, hasRtpInfo: true, rtpInfoErrorMs: 50_000 })) < 1)
})

test('sender reports move audio to its position gradually and keep it there', () => {
  for (const hasRtpInfo of [false, true]) {
    const errors = play({
      seconds: 600,
      audioDelayMs: 300,
      audioPpm: 100,
      hasRtpInfo,
      rtpInfoErrorMs: 200,
      reportErrorMs: () => 0,
    })
    assert.ok(worst(errors.slice(15)) < 2, `${worst(errors.slice(15))}`)
    const steps = errors.slice(1).map((error, i) => error - errors[i]!)
    assert.ok(worst(steps) <= 51, 'five per cent of a second')
  }
})

test('a camera that is slow to start has its audio in place afterwards', () => {
  // The timestamps seem to have a wrong rate, until frames are on time again.
  for (const slowMs of [400, 800, 1200, 2400]) {
    const lateMs = (ms: number) => Math.max(0, Math.min(ms, 3 * slowMs - 2 * ms)) / 2
    const scene = { seconds: 60, audioDelayMs: 190, lateMs }
    for (const hasRtpInfo of [false, true]) {
      const errors = play({ ...scene, hasRtpInfo, reportErrorMs: () => 0 })
      assert.ok(worst(errors.slice(20)) < 2, `${slowMs} ms: ${worst(errors.slice(20))}`)
    }
    const errors = play({ ...scene, hasRtpInfo: true })
    assert.ok(worst(errors.slice(10)) < 2, `${slowMs} ms: ${worst(errors.slice(10))}`)
  }
})

test('audio stays in place if a camera left out frames but not their timestamps, and reports the positions of before', () => {
  const video = new WallClock()
  const audio = new AudioClock(video)
  let frames = 0
  for (let ms = 0; ms < 60_000; ms += 40) {
    // Half of the frames for three seconds: the timestamps have lost a second and a half then.
    const isLeftOut = ms >= 15_000 && ms < 18_000 && ms % 80 !== 0
    if (isLeftOut) continue
    video.map(500_000 + frames++ * 3600, startMs + ms)
    if (ms === 0) video.beginRun()
    if (ms % 5000 === 0) audio.follow(7_000_000 + ms, 500_000 / 90 + ms)
    audio.map(7_000_000 + ms, startMs + ms)
    if (ms > 25_000)
      assert.ok(Math.abs(audio.pts90k - video.pts90k) < 100 * 90, `${(audio.pts90k - video.pts90k) / 90}`)
  }
  assert.equal(video.rate, 1)
})

test('sender reports that contradict each other or the arrival times are ignored', () => {
  assert.ok(worst(play({ seconds: 60, reportErrorMs: (index) => index * 700 })) < 1)
  assert.ok(worst(play({ seconds: 60, reportErrorMs: () => 5000 })) < 1)
})

test('audio with an inaccurate crystal does not drift away from the video in six hours', () => {
  for (const hasRtpInfo of [false, true]) {
    for (const audioPpm of [-150, 150]) assert.ok(worst(play({ seconds: 6 * 3600, audioPpm, hasRtpInfo })) < 15)
  }
})

test('audio stays aligned with the video after a jump of the camera clock', () => {
  const video = new WallClock()
  const audio = new AudioClock(video)
  let ms = 0
  const play = (videoJumpMs: number, audioJumpMs: number, isFirst: boolean) => {
    video.map(500_000 + (ms + videoJumpMs) * 90, startMs + ms)
    if (video.isRunDue) {
      const isNewClock = video.beginRun()
      if (ms > 0) audio.beginRun(isNewClock)
      else audio.alignTo(7_000_000, 500_000 / 90)
    }
    // Audio is sent 150 ms after the video of the same moment, so the current audio is older.
    const isPlaced = audio.map(7_000_000 + ms - 150 + audioJumpMs, startMs + ms)
    // The first frame after a jump may still be a stray frame.
    if (isPlaced && !isFirst)
      assert.ok(Math.abs(audio.pts90k - video.pts90k + 150 * 90) < 90, `${audio.pts90k} ${video.pts90k}`)
    ms += 40
  }
  for (let i = 0; i < 1000; i++) play(0, 0, false)
  for (let i = 0; i < 1000; i++) play(60_000, 60_000, i === 0)
  for (let i = 0; i < 1000; i++) play(-60_000, 0, i === 0)
})

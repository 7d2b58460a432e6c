import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AudioClock } from './audio-clock.ts'
import { WallClock } from './wall-clock.ts'

const startMs = 1_700_000_000_000

type Scene = {
  seconds: number
  audioPpm?: number
  audioDelayMs?: number
  isTold?: boolean
  toldErrorMs?: number
  /** Reports each five seconds; how wrong the n-th is. */
  reportErrorMs?: (index: number) => number
}

/**
 * Plays picture and audio of the same moments; gives the error of the audio's place, in milliseconds, once a second.
 */
function play(scene: Scene): number[] {
  const { seconds, audioPpm = 0, audioDelayMs = 0, isTold = false, toldErrorMs = 0, reportErrorMs } = scene
  const video = new WallClock()
  const audio = new AudioClock(video)
  const errors: number[] = []
  let lastPts90k = -1
  let lastWallMs = 0
  for (let ms = 0; ms < seconds * 1000; ms += 40) {
    video.map(500_000 + ms * 90, startMs + ms)
    if (ms === 0) {
      video.beginRun()
      if (isTold) audio.alignTo(7_000_000, 500_000 / 90 + toldErrorMs)
    }
    const audioMs = 7_000_000 + ms * (1 + audioPpm / 1e6)
    if (ms % 5000 === 0 && reportErrorMs) audio.follow(audioMs, 500_000 / 90 + ms + reportErrorMs(ms / 5000))
    const isPlaced = audio.map(audioMs, startMs + ms + audioDelayMs)
    assert.ok(isPlaced)
    assert.ok(audio.pts90k > lastPts90k && audio.wallMs >= lastWallMs)
    lastPts90k = audio.pts90k
    lastWallMs = audio.wallMs
    if (ms % 1000 === 0) errors.push(audio.pts90k / 90 - ms)
  }
  return errors
}

const worst = (errors: number[]) => Math.max(...errors.map(Math.abs))

test('without RTP-Info audio is placed by its arrival', () => {
  assert.ok(worst(play({ seconds: 60 })) < 1)
  assert.ok(Math.abs(worst(play({ seconds: 60, audioDelayMs: 150 })) - 150) < 1)
})

test('with RTP-Info audio that is sent late is still in its place', () => {
  assert.ok(worst(play({ seconds: 60, audioDelayMs: 150, isTold: true })) < 1)
})

test('an RTP-Info that makes no sense is left aside', () => {
  assert.ok(worst(play({ seconds: 60, isTold: true, toldErrorMs: 50_000 })) < 1)
})

test('reports bring audio to its place and keep it there, without a jump', () => {
  for (const isTold of [false, true]) {
    const errors = play({
      seconds: 600,
      audioDelayMs: 300,
      audioPpm: 100,
      isTold,
      toldErrorMs: 200,
      reportErrorMs: () => 0,
    })
    assert.ok(worst(errors.slice(15)) < 2, `${worst(errors.slice(15))}`)
    const steps = errors.slice(1).map((error, i) => error - errors[i]!)
    assert.ok(worst(steps) <= 51, 'five per cent of a second')
  }
})

test('reports that contradict each other, or arrival, are left aside', () => {
  assert.ok(worst(play({ seconds: 60, reportErrorMs: (index) => index * 700 })) < 1)
  assert.ok(worst(play({ seconds: 60, reportErrorMs: () => 5000 })) < 1)
})

test('an audio crystal that is wrong does not drift away from the picture in six hours', () => {
  for (const isTold of [false, true]) {
    for (const audioPpm of [-150, 150]) assert.ok(worst(play({ seconds: 6 * 3600, audioPpm, isTold })) < 15)
  }
})

test('after a jump of the camera clock audio keeps its place beside the picture', () => {
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
    // The audio of this moment comes 150 ms later; the audio that comes now is older.
    const isPlaced = audio.map(7_000_000 + ms - 150 + audioJumpMs, startMs + ms)
    // With its first frame a jump may still be a stray one.
    if (isPlaced && !isFirst)
      assert.ok(Math.abs(audio.pts90k - video.pts90k + 150 * 90) < 90, `${audio.pts90k} ${video.pts90k}`)
    ms += 40
  }
  for (let i = 0; i < 1000; i++) play(0, 0, false)
  for (let i = 0; i < 1000; i++) play(60_000, 60_000, i === 0)
  for (let i = 0; i < 1000; i++) play(-60_000, 0, i === 0)
})

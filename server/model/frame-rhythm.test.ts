import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FrameRhythm, type Hole } from './frame-rhythm.ts'

/** What is found at each of these intervals, seconds. */
function take(rhythm: FrameRhythm, seconds: readonly number[], isAfterLoss = false): (Hole | undefined)[] {
  return seconds.map((interval) => rhythm.take(Math.round(interval * 90_000), isAfterLoss))
}

const steady = (interval: number, count = 200) => Array.from({ length: count }, () => interval)

test('a loss of more than a second of video is a hole at any frame rate', () => {
  for (const interval of [1 / 60, 1 / 25, 0.2, 1, 5]) {
    const rhythm = new FrameRhythm()
    assert.ok(take(rhythm, steady(interval)).every((hole) => hole === undefined))
    assert.deepEqual(take(rhythm, [interval + 0.9, interval + 1.1], true), [undefined, 'loss'], `${interval}`)
  }
})

test('a pause of a steady camera is a hole if it exceeds a second and several frame intervals', () => {
  for (const [interval, pause] of [
    [0.04, 1.2],
    [0.2, 1.2],
    [1, 4.5],
  ] as const) {
    const rhythm = new FrameRhythm()
    take(rhythm, steady(interval))
    assert.deepEqual(take(rhythm, [pause]), ['pause'], `${interval}`)
    assert.deepEqual(take(rhythm, [pause * 0.8]), [undefined], 'it does so now and then')
  }
})

test('cameras that send a frame every one or five seconds have no holes, from the first frame on', () => {
  for (const interval of [1, 1.3, 2, 5]) {
    const jittered = steady(interval).map((seconds, i) => seconds * (i % 2 ? 0.9 : 1.1))
    assert.ok(take(new FrameRhythm(), jittered).every((hole) => hole === undefined))
  }
})

test('a camera whose rate follows the scene has no holes', () => {
  let seed = 7
  const random = () => (seed = (seed * 48_271) % 0x7fffffff) / 0x7fffffff
  const intervals = Array.from({ length: 5000 }, () => (random() < 0.1 ? random() * 4 : 0.05 + random() * 0.1))
  assert.ok(take(new FrameRhythm(), intervals).every((hole) => hole === undefined))
})

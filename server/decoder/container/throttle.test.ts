import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Throttle } from './throttle.ts'

/** The times at which frames 40 ms apart are passed on if all are available immediately. */
function play(frameCount: number, mediaOf = (index: number) => index * 40): number[] {
  const throttle = new Throttle()
  let nowMs = 1000
  return Array.from({ length: frameCount }, (_, i) => {
    nowMs += throttle.delayMs(mediaOf(i), nowMs)
    return nowMs - 1000
  })
}

test('a file is passed on immediately for ten seconds and at playback speed from then on', () => {
  const times = play(1000)
  assert.equal(times[250], 0)
  assert.ok(Math.abs(times[999]! - (999 * 40 - 10_000)) < 100, `${times[999]}`)
})

test('a jump in media time causes no delay', () => {
  assert.equal(play(100, (i) => (i < 50 ? i * 40 : 1e9 + i * 40)).at(-1), 0)
  assert.equal(play(100, (i) => (i < 50 ? 1e9 + i * 40 : i * 40)).at(-1), 0)
})

test('a stream that falls behind cannot run further ahead afterwards', () => {
  const throttle = new Throttle()
  assert.equal(throttle.delayMs(0, 0), 0)
  assert.equal(throttle.delayMs(40, 60_000), 0)
  for (let at = 80; at <= 10_000; at += 40) assert.equal(throttle.delayMs(at, 60_000), 0)
  assert.ok(throttle.delayMs(10_080, 60_000) > 0)
})

test('a live source with a fast clock is never delayed', () => {
  const throttle = new Throttle()
  for (let at = 0; at < 100 * 3_600_000; at += 1000) assert.equal(throttle.delayMs(at * 1.0005, at), 0)
})

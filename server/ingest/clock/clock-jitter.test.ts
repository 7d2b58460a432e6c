import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../../test/fake-camera/scene/random.ts'
import { WallClock } from './wall-clock.ts'

const startMs = 1_700_000_000_000
const cameras = 400
const settleMs = 20_000

/**
 * A minute of a camera whose clock is accurate. Each frame is delayed by 5 ms plus an exponentially distributed time,
 * and TCP keeps the order.
 */
function play(seed: number, meanMs: number) {
  const random = createRandom(seed)
  const fps = [5, 8, 10, 12, 15, 20, 25, 30][Math.floor(random() * 8)]!
  const clock = new WallClock()
  const result = { fps, runs: 0, worstMs: 0, settledWorstMs: 0, longestWrongMs: 0 }
  let arrivalMs = 0
  let wrongMs = 0
  for (let i = 0; i < fps * 60; i++) {
    const trueMs = (i * 1000) / fps
    arrivalMs = Math.max(arrivalMs, trueMs + 5 - Math.log(1 - random()) * meanMs)
    clock.map(Math.round(trueMs * 90) + 12_345_678, startMs + arrivalMs)
    if (i % fps === 0 && clock.isRunDue) {
      clock.beginRun()
      result.runs++
    }
    const errorMs = Math.abs(clock.wallMs - startMs - trueMs)
    wrongMs = clock.rate === 1 ? 0 : wrongMs + 1000 / fps
    if (trueMs > 2000) result.worstMs = Math.max(result.worstMs, errorMs)
    if (trueMs <= settleMs) continue
    result.settledWorstMs = Math.max(result.settledWorstMs, errorMs)
    result.longestWrongMs = Math.max(result.longestWrongMs, wrongMs)
  }
  return result
}

for (const meanMs of [20, 50, 100, 200, 300]) {
  test(`${cameras} good cameras with exponential delays of ${meanMs} ms are on time and keep their rate`, () => {
    for (let seed = 1; seed <= cameras; seed++) {
      const result = play(seed, meanMs)
      const what = `seed ${seed}: ${JSON.stringify(result)}`
      assert.equal(result.runs, 1, what)
      assert.ok(result.settledWorstMs < 500, what)
      // A rate that was measured by mistake is refuted quickly.
      assert.ok(result.longestWrongMs < 1000, what)
      // The delay of the first frame, at most ln(400) times the mean, counts until an earlier frame has arrived and the
      // clock has been corrected.
      assert.ok(result.worstMs < 500 + meanMs * Math.log(cameras), what)
    }
  })
}

/**
 * Two minutes of a camera that always stamps `nominal` frames/s and sends fewer after the first half minute, with the
 * same delays.
 */
function playFall(seed: number, nominal: number, real: number, meanMs: number) {
  const random = createRandom(seed)
  const clock = new WallClock()
  const result = { runs: 0, worstMs: 0, offMs: 0 }
  let trueMs = 0
  let arrivalMs = 0
  for (let i = 0; trueMs < 120_000; i++) {
    const stepMs = i === 0 ? 0 : 1000 / (trueMs < 30_000 ? nominal : real)
    trueMs += stepMs
    arrivalMs = Math.max(arrivalMs, trueMs + 5 - Math.log(1 - random()) * meanMs)
    clock.map(Math.round((i * 90_000) / nominal), startMs + arrivalMs)
    if (i % nominal === 0 && clock.isRunDue) {
      clock.beginRun()
      result.runs++
    }
    const errorMs = Math.abs(clock.wallMs - startMs - trueMs)
    result.worstMs = Math.max(result.worstMs, errorMs)
    if (errorMs > 500) result.offMs += stepMs
  }
  return result
}

test('cameras that drop to one or two frames per second on a jittery network are late only for a moment', () => {
  for (const [nominal, real, meanMs, worstMs] of [
    [5, 1.8, 50, 3000],
    [5, 1.5, 50, 3000],
    [5, 1, 50, 3000],
    [10, 1, 50, 4000],
    [5, 1.5, 100, 4000],
    [5, 1, 100, 6000],
  ] as const) {
    let offMs = 0
    for (let seed = 1; seed <= 100; seed++) {
      const result = playFall(seed, nominal, real, meanMs)
      const what = `${nominal} to ${real} frames/s, ${meanMs} ms, seed ${seed}: ${JSON.stringify(result)}`
      assert.equal(result.runs, 1, what)
      assert.ok(result.worstMs < worstMs, what)
      offMs += result.offMs / 100
    }
    assert.ok(offMs < 6000, `${nominal} to ${real} frames/s, ${meanMs} ms: off by half a second for ${offMs} ms`)
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { divideRate, LagMeter } from './play-rate.ts'
import { rates } from './player-keys.ts'

test("2x and 4x use the video's playback rate; 8x and faster use key frames", () => {
  assert.deepEqual(
    rates.map((rate) => Object.values(divideRate(rate, true))),
    [
      [1, 0.5],
      [1, 1],
      [1, 2],
      [1, 4],
      [8, 1],
      [16, 1],
    ],
  )
})

test('a browser that cannot keep up gets key frames for all higher speeds', () => {
  assert.deepEqual(divideRate(2, false), { stream: 2, video: 1 })
  assert.deepEqual(divideRate(1, false), { stream: 1, video: 1 })
  assert.deepEqual(divideRate(0.5, false), { stream: 1, video: 0.5 })
})

/** Plays for so many seconds at this part of the speed that is wanted; whether it was found too slow. */
function play(lag: LagMeter, seconds: number, rate: number, part: number, fromMs = 0): boolean {
  const ticks = Array.from({ length: seconds * 4 + 1 }, (_, index) => fromMs + index * 250)
  return ticks.some((nowMs) => lag.isBehind(nowMs, 1e12 + nowMs * rate * part, rate))
}

test('playback counts as too slow only after lagging for seconds', () => {
  assert.equal(play(new LagMeter(), 20, 4, 0.9), false)
  assert.equal(play(new LagMeter(), 20, 4, 0.5), true)
  assert.equal(play(new LagMeter(), 4, 4, 0), false)
})

test('a new speed, a seek backward and a reset restart the measurement', () => {
  const lag = new LagMeter()
  assert.equal(play(lag, 4, 4, 0), false)
  assert.equal(play(lag, 4, 2, 0, 4_000), false)
  lag.reset()
  assert.equal(play(lag, 4, 2, 0, 8_000), false)
  assert.equal(lag.isBehind(13_000, 0, 2), false)
})

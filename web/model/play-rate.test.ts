import assert from 'node:assert/strict'
import { test } from 'node:test'
import { divideRate, Pace } from './play-rate.ts'
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
function play(pace: Pace, seconds: number, rate: number, part: number, fromMs = 0): boolean {
  const ticks = Array.from({ length: seconds * 4 + 1 }, (_, index) => fromMs + index * 250)
  return ticks.some((nowMs) => pace.isBehind(nowMs, 1e12 + nowMs * rate * part, rate))
}

test('playback counts as too slow only after lagging for seconds', () => {
  assert.equal(play(new Pace(), 20, 4, 0.9), false)
  assert.equal(play(new Pace(), 20, 4, 0.5), true)
  assert.equal(play(new Pace(), 4, 4, 0), false)
})

test('a new speed, a seek backward and a reset restart the measurement', () => {
  const pace = new Pace()
  assert.equal(play(pace, 4, 4, 0), false)
  assert.equal(play(pace, 4, 2, 0, 4_000), false)
  pace.reset()
  assert.equal(play(pace, 4, 2, 0, 8_000), false)
  assert.equal(pace.isBehind(13_000, 0, 2), false)
})

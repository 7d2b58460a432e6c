import assert from 'node:assert/strict'
import { test } from 'node:test'
import { divideRate, Pace } from './play-rate.ts'
import { rates } from './player-keys.ts'

test('twice and four times are played by the video, eight times and more as key frames', () => {
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

test('a browser that does not keep up gets key frames for all that is faster than it was', () => {
  assert.deepEqual(divideRate(2, false), { stream: 2, video: 1 })
  assert.deepEqual(divideRate(1, false), { stream: 1, video: 1 })
  assert.deepEqual(divideRate(0.5, false), { stream: 1, video: 0.5 })
})

/** Plays for so many seconds at this part of the speed that is wanted; whether it was found too slow. */
function play(pace: Pace, seconds: number, rate: number, part: number, fromMs = 0): boolean {
  const ticks = Array.from({ length: seconds * 4 + 1 }, (_, index) => fromMs + index * 250)
  return ticks.some((nowMs) => pace.isBehind(nowMs, 1e12 + nowMs * rate * part, rate))
}

test('too slow is what stays behind for seconds, not what is a little late', () => {
  assert.equal(play(new Pace(), 20, 4, 0.9), false)
  assert.equal(play(new Pace(), 20, 4, 0.5), true)
  assert.equal(play(new Pace(), 4, 4, 0), false)
})

test('another speed, a jump back and a reset begin anew', () => {
  const pace = new Pace()
  assert.equal(play(pace, 4, 4, 0), false)
  assert.equal(play(pace, 4, 2, 0, 4_000), false)
  pace.reset()
  assert.equal(play(pace, 4, 2, 0, 8_000), false)
  assert.equal(pace.isBehind(13_000, 0, 2), false)
})

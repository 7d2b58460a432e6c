import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TimestampCheck } from './timestamp-check.ts'

/** Whether the timestamps that `toTicks` gives the frames of half a minute, or twenty, are usable. */
function isUsable(toTicks: (ms: number, i: number) => number, frameMs = 40, toArrivalMs = (ms: number) => ms): boolean {
  const check = new TimestampCheck()
  for (let i = 0; i < 20 || i * frameMs < 30_000; i++)
    check.take(toTicks(i * frameMs, i), 1e12 + toArrivalMs(i * frameMs))
  return !check.isUnusable
}

test('timestamps that stand still or pass in another unit are unusable', () => {
  for (const frameMs of [20, 40, 200, 1000, 4000]) {
    assert.equal(
      isUsable(() => 4711, frameMs),
      false,
      'constant',
    )
    assert.equal(
      isUsable((ms) => ms, frameMs),
      false,
      'milliseconds',
    )
    assert.equal(
      isUsable((_, i) => i, frameMs),
      false,
      'numbers of frames',
    )
    assert.equal(
      isUsable((ms) => ms * 1e6, frameMs),
      false,
      'nanoseconds',
    )
  }
})

test('clocks that are wrong, set, or read in bursts are usable', () => {
  for (const rate of [1 / 25, 0.5, 1, 1.001, 2, 25])
    assert.ok(
      isUsable((ms) => (ms * 90) / rate),
      `rate ${rate}`,
    )
  assert.ok(
    isUsable((ms) => ms * 90 + (ms >= 10_000 ? 7_200_000 * 90 : 0)),
    'set ahead',
  )
  assert.ok(
    isUsable((ms) => ms * 90 - (ms >= 10_000 ? 7_200_000 * 90 : 0)),
    'set back',
  )
  assert.ok(
    isUsable(
      (ms) => ms * 90,
      40,
      (ms) => Math.ceil(ms / 9000) * 9000,
    ),
    'standstills of nine seconds',
  )
  assert.ok(
    isUsable(
      (ms) => ms * 90,
      40,
      (ms) => (ms < 10_000 ? ms : Math.max(ms, 10_000 + 19_000)),
    ),
    'one standstill',
  )
  assert.ok(
    isUsable((ms) => ms * 90, 15_000),
    'a frame every 15 seconds',
  )
})

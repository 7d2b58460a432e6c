import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findIntervalMs } from './asking-again.ts'

test('a long list is asked for less often, so that as much comes in the same time, and never less than once a minute', () => {
  const intervals = [0, 1, 100, 300, 1000, 5000].map((count) => findIntervalMs(5_000, count, 100))
  assert.deepEqual(intervals, [5_000, 5_000, 5_000, 15_000, 50_000, 60_000])
})

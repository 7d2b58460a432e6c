import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findRefreshIntervalMs } from './refresh-interval.ts'

test('longer lists are refreshed proportionally less often, at least once a minute', () => {
  const intervals = [0, 1, 100, 300, 1000, 5000].map((count) => findRefreshIntervalMs(5_000, count, 100))
  assert.deepEqual(intervals, [5_000, 5_000, 5_000, 15_000, 50_000, 60_000])
})

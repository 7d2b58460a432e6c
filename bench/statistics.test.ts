import assert from 'node:assert/strict'
import test from 'node:test'
import { median, percentile, sum } from './statistics.ts'

test('medians and percentiles lie between the nearest values', () => {
  assert.equal(median([3]), 3)
  assert.equal(median([9, 1, 2]), 2)
  assert.equal(median([4, 1, 2, 3]), 2.5)
  assert.equal(percentile([10, 0], 99), 9.9)
  assert.equal(percentile([5, 1, 3], 100), 5)
  assert.throws(() => median([]))
  assert.equal(sum([1, 2, 3]), 6)
})

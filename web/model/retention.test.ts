import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDays, usualRetentions } from './retention.ts'

test('durations are read as days', () => {
  assert.deepEqual(usualRetentions.map(readDays), [1, 3, 7, 14, 30, 90])
  assert.equal(readDays('P2W'), 14)
  assert.equal(readDays('PT36H'), 1.5)
  assert.equal(readDays('P1DT12H'), 1.5)
  assert.equal(readDays('PT43200.0S'), 0.5)
  for (const wrong of ['', 'P', 'PT', 'seven days', 'P-1D', 'P1Y']) assert.equal(readDays(wrong), undefined, wrong)
})

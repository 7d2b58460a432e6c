import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Standstill } from './standstill.ts'

test('a standstill is detected as soon as it ends, and a slight delay of the thread is not a standstill', () => {
  let nowMs = 1000
  using standstill = new Standstill(() => nowMs)
  assert.equal(standstill.sinceMs(), Number.POSITIVE_INFINITY)
  assert.equal(standstill.sinceBeganMs(), Number.POSITIVE_INFINITY)
  nowMs += 390
  assert.equal(standstill.sinceMs(), Number.POSITIVE_INFINITY)
  nowMs += 410
  assert.equal(standstill.sinceMs(), 0)
  nowMs += 70
  assert.equal(standstill.sinceMs(), 70)
  assert.equal(standstill.sinceBeganMs(), 480)
})

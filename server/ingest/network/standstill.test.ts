import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Standstill } from './standstill.ts'

test('a standstill is known at once when it ends, and a thread that is a little late did not stand still', () => {
  let nowMs = 1000
  using standstill = new Standstill(() => nowMs)
  assert.equal(standstill.sinceMs(), Number.POSITIVE_INFINITY)
  nowMs += 390
  assert.equal(standstill.sinceMs(), Number.POSITIVE_INFINITY)
  nowMs += 410
  assert.equal(standstill.sinceMs(), 0)
  nowMs += 70
  assert.equal(standstill.sinceMs(), 70)
})

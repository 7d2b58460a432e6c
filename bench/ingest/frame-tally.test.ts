import assert from 'node:assert/strict'
import test from 'node:test'
import { addTallies, tallyFrames } from './frame-tally.ts'

test('a hole and a missing end are lost, a late beginning is not', () => {
  assert.deepEqual(tallyFrames([8, 9, 10, 12, 13], 5, 14), { expected: 6, written: 5, lost: 1 })
  assert.deepEqual(tallyFrames([5, 6, 7], 5, 10), { expected: 5, written: 3, lost: 2 })
  assert.deepEqual(tallyFrames([5, 6, 7], 5, 8), { expected: 3, written: 3, lost: 0 })
})

test('numbers outside the window and repeated ones do not count', () => {
  assert.deepEqual(tallyFrames([3, 4, 5, 5, 6, 20], 4, 7), { expected: 3, written: 3, lost: 0 })
})

test('without any picture all are lost', () => {
  assert.deepEqual(tallyFrames([], 100, 150), { expected: 50, written: 0, lost: 50 })
  assert.deepEqual(
    addTallies([
      { expected: 50, written: 0, lost: 50 },
      { expected: 6, written: 5, lost: 1 },
    ]),
    { expected: 56, written: 5, lost: 51 },
  )
})

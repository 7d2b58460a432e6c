import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Tally } from './tally.ts'

test('one holds no more than it may, and gets again what it gave back', () => {
  const tally = new Tally({ max: 100, maxOfOne: 3 })
  assert.deepEqual([tally.take('a', 2), tally.take('a', 2), tally.take('a')], [true, false, true])
  tally.give('a', 3)
  assert.deepEqual([tally.total, tally.size], [0, 0])
  assert.ok(tally.take('a', 3))
})

test('one leaves half, two leave a third, and whoever comes gets something', () => {
  const tally = new Tally({ max: 120, maxOfOne: 120 })
  const takeAll = (key: string) => {
    let count = 0
    while (tally.take(key)) count++
    return count
  }
  assert.deepEqual([takeAll('a'), takeAll('b'), takeAll('c')], [60, 30, 15])
  assert.ok(tally.take('d'))
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UsageCounter } from './usage-counter.ts'

test('one holds no more than it may, and gets again what it gave back', () => {
  const usage = new UsageCounter({ max: 100, maxOfOne: 3 })
  assert.deepEqual([usage.take('a', 2), usage.take('a', 2), usage.take('a')], [true, false, true])
  usage.give('a', 3)
  assert.deepEqual([usage.total, usage.size], [0, 0])
  assert.ok(usage.take('a', 3))
})

test('one leaves half, two leave a third, and whoever comes gets something', () => {
  const usage = new UsageCounter({ max: 120, maxOfOne: 120 })
  const takeAll = (key: string) => {
    let count = 0
    while (usage.take(key)) count++
    return count
  }
  assert.deepEqual([takeAll('a'), takeAll('b'), takeAll('c')], [60, 30, 15])
  assert.ok(usage.take('d'))
})

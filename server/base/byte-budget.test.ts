import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ByteBudget } from './byte-budget.ts'

test('owners that take, charge and give at random never get more by taking than is left', () => {
  let state = 11
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647
  const budget = new ByteBudget(1000)
  const held = [0, 0, 0, 0]
  for (let step = 0; step < 5000; step++) {
    const owner = Math.floor(random() * held.length)
    const bytes = Math.floor(random() * 400)
    const usedBytes = held.reduce((sum, each) => sum + each, 0)
    const choice = random()
    if (choice < 0.45) {
      const isTaken = budget.take(bytes)
      assert.equal(isTaken, usedBytes + bytes <= 1000)
      if (isTaken) held[owner]! += bytes
    } else if (choice < 0.5) {
      budget.charge(bytes)
      held[owner]! += bytes
    } else {
      const given = Math.min(bytes, held[owner]!)
      budget.give(given)
      held[owner]! -= given
    }
    assert.equal(
      budget.usedBytes,
      held.reduce((sum, each) => sum + each, 0),
    )
    assert.equal(budget.leftBytes, 1000 - budget.usedBytes)
  }
})

test('a budget of nothing gives nothing', () => {
  const budget = new ByteBudget(0)
  assert.equal(budget.take(1), false)
  assert.equal(budget.take(0), true)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Turns } from './turns.ts'

test('a few at once, the rest in the turns that follow, in order', async () => {
  const turns = new Turns(3)
  const done: number[] = []
  for (let i = 0; i < 8; i++) turns.take(() => done.push(i))
  assert.deepEqual(done, [0, 1, 2])
  assert.equal(turns.waiting, 5)
  await nextTurn()
  assert.deepEqual(done, [0, 1, 2, 3, 4, 5])
  turns.take(() => done.push(8))
  assert.deepEqual(done, [0, 1, 2, 3, 4, 5])
  await nextTurn()
  assert.deepEqual(done, [0, 1, 2, 3, 4, 5, 6, 7, 8])
  assert.equal(turns.waiting, 0)
  await nextTurn()
  await nextTurn()
  turns.take(() => done.push(9))
  assert.equal(done.at(-1), 9)
})

test('what begins more of its kind is spread too', async () => {
  const turns = new Turns(2)
  let count = 0
  const again = () => {
    if (++count < 6) turns.take(again)
  }
  again()
  assert.equal(count, 3)
  await nextTurn()
  assert.equal(count, 5)
  await nextTurn()
  assert.equal(count, 6)
})

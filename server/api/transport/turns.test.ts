import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Turns } from './turns.ts'

test('a few at once, the rest in the turns that follow, in order', async () => {
  const turns = new Turns({ perTurn: 3 })
  const done: number[] = []
  for (let i = 0; i < 8; i++) turns.take('a', () => done.push(i))
  assert.deepEqual(done, [0, 1, 2])
  assert.equal(turns.waiting, 5)
  await nextTurn()
  assert.deepEqual(done, [0, 1, 2, 3, 4, 5])
  turns.take('a', () => done.push(8))
  assert.deepEqual(done, [0, 1, 2, 3, 4, 5])
  await nextTurn()
  assert.deepEqual(done, [0, 1, 2, 3, 4, 5, 6, 7, 8])
  assert.equal(turns.waiting, 0)
  await nextTurn()
  await nextTurn()
  turns.take('a', () => done.push(9))
  assert.equal(done.at(-1), 9)
})

test('what begins more of its kind is spread too', async () => {
  const turns = new Turns({ perTurn: 2 })
  let count = 0
  const again = () => {
    if (++count < 6) turns.take('a', again)
  }
  again()
  assert.equal(count, 3)
  await nextTurn()
  assert.equal(count, 5)
  await nextTurn()
  assert.equal(count, 6)
})

test('clients take turns, whatever each has waiting', async () => {
  const turns = new Turns({ perTurn: 2 })
  const done: string[] = []
  for (let i = 0; i < 6; i++) turns.take('many', () => done.push(`many ${i}`))
  turns.take('one', () => done.push('one'))
  assert.deepEqual(done, ['many 0', 'many 1'])
  await nextTurn()
  assert.deepEqual(done.slice(2), ['many 2', 'one'])
})

test('of what takes long fewer begin in a turn, what its promises lead to included', async () => {
  const turns = new Turns({ perTurn: 10, maxMs: 5 })
  const done: string[] = []
  const busy = () => {
    const untilMs = performance.now() + 10
    while (performance.now() < untilMs) {}
  }
  turns.take('a', busy)
  for (const name of ['b', 'c', 'd']) {
    turns.take(name, () => {
      void Promise.resolve().then(busy)
      done.push(name)
    })
  }
  assert.deepEqual(done, [])
  for (let turn = 1; turn <= 3; turn++) {
    await nextTurn()
    assert.equal(done.length, turn)
  }
})

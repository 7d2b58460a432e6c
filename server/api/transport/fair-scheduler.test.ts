import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { FairScheduler } from './fair-scheduler.ts'

test('a few run at once, the rest in order in later turns', async () => {
  const turns = new FairScheduler({ perTurn: 3 })
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
  const turns = new FairScheduler({ perTurn: 2 })
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
  const turns = new FairScheduler({ perTurn: 2 })
  const done: string[] = []
  for (let i = 0; i < 6; i++) turns.take('many', () => done.push(`many ${i}`))
  turns.take('one', () => done.push('one'))
  assert.deepEqual(done, ['many 0', 'many 1'])
  await nextTurn()
  assert.deepEqual(done.slice(2), ['many 2', 'one'])
})

test('of what takes long a few begin in a turn, what the promises of one lead to before the next', async () => {
  const turns = new FairScheduler({ perTurn: 100, maxMs: 5 })
  const busy = () => {
    const untilMs = performance.now() + 2
    while (performance.now() < untilMs) {}
  }
  let running = 0
  let ended = 0
  const work = () => {
    assert.equal(running++, 0)
    void Promise.resolve().then(() => {
      busy()
      running--
      ended++
    })
  }
  for (let i = 0; i < 10; i++) turns.take('a', busy)
  for (let i = 0; i < 50; i++) turns.take('b', work)
  const perTurn: number[] = []
  while (ended < 50) {
    const before = ended
    await nextTurn()
    perTurn.push(ended - before)
  }
  assert.ok(Math.max(...perTurn) <= 8, `${perTurn}`)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { FairSemaphore } from './fair-semaphore.ts'

function openSemaphore(limits: { maxRunning: number; maxRunningOfOne?: number; maxWaitingOfOne?: number }) {
  const semaphore = new FairSemaphore<string>({
    maxRunningOfOne: 10,
    maxWaitingOfOne: 100,
    refusal: 'too many',
    ...limits,
  })
  const order: string[] = []
  const ends: (() => void)[] = []
  const enter = (key: string, signal?: AbortSignal) =>
    semaphore.run(
      key,
      () => {
        order.push(key)
        return new Promise<void>((resolve) => ends.push(resolve))
      },
      signal,
    )
  return { semaphore, order, enter, ends }
}

test('a party with many tasks waits for itself, and others are served in between', async () => {
  const { semaphore, order, enter, ends } = openSemaphore({ maxRunning: 1 })
  const all = [...Array.from({ length: 5 }, () => enter('greedy')), enter('b'), enter('c'), enter('b')]
  while (order.length < 8 || ends.length > 0) {
    ends.shift()?.()
    await turn()
  }
  await Promise.all(all)
  assert.deepEqual(order.join(' '), 'greedy greedy b c greedy b greedy greedy')
  assert.deepEqual(semaphore.stats(), { running: 0, waiting: 0, refused: 0 })
})

test('one party has no more than its share of slots and of the queue, even if there is room', async () => {
  const { semaphore, order, enter, ends } = openSemaphore({ maxRunning: 10, maxRunningOfOne: 2, maxWaitingOfOne: 1 })
  const all = [enter('a'), enter('a'), enter('a')]
  await assert.rejects(enter('a'), { kind: 'unavailable', message: 'too many' })
  all.push(enter('b'))
  assert.equal(order.join(' '), 'a a b')
  assert.deepEqual(semaphore.stats(), { running: 3, waiting: 1, refused: 1 })
  while (ends.length > 0) {
    ends.shift()?.()
    await turn()
  }
  await Promise.all(all)
})

test('an aborted waiting task takes no slot, and a failed task releases its slot', async () => {
  const { semaphore, order, enter, ends } = openSemaphore({ maxRunning: 1 })
  const gone = new AbortController()
  const first = enter('a')
  const second = enter('b', gone.signal)
  const third = enter('c')
  gone.abort(new Error('gone'))
  await assert.rejects(second, /gone/)
  await assert.rejects(enter('d', gone.signal), /gone/)
  ends.shift()?.()
  await first
  await turn()
  assert.equal(order.join(' '), 'a c')
  ends.shift()?.()
  await third
  await assert.rejects(
    semaphore.run('e', () => Promise.reject(new Error('no'))),
    /no/,
  )
  assert.deepEqual(semaphore.stats(), { running: 0, waiting: 0, refused: 0 })
})

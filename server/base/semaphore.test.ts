import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AppError } from './error.ts'
import { Semaphore } from './semaphore.ts'

test('only some tasks run at once, and the others in order', async () => {
  const semaphore = new Semaphore({ maxRunning: 2 })
  const order: number[] = []
  const finish: (() => void)[] = []
  const run = (i: number) =>
    semaphore.run(async () => {
      order.push(i)
      await new Promise<void>((resolve) => finish.push(resolve))
      if (i === 1) throw new Error('failed')
    })
  const all = Promise.allSettled([0, 1, 2, 3].map(run))
  await new Promise(setImmediate)
  assert.deepEqual(order, [0, 1])
  finish[1]!()
  await new Promise(setImmediate)
  assert.deepEqual(order, [0, 1, 2], 'one that fails makes room too')
  for (let i = 0; i < 4; i++) {
    finish.forEach((each) => {
      each()
    })
    await new Promise(setImmediate)
  }
  assert.deepEqual(order, [0, 1, 2, 3])
  assert.deepEqual(
    (await all).map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  )
})

test('a task is refused immediately and counted if too many wait', async () => {
  const semaphore = new Semaphore({ maxRunning: 1, maxWaiting: 2, refusal: 'too many images', retryAfterSeconds: 3 })
  const { promise, resolve } = Promise.withResolvers<void>()
  const all = Promise.allSettled(Array.from({ length: 5 }, () => semaphore.run(() => promise)))
  assert.deepEqual(semaphore.stats(), { running: 1, waiting: 2, refused: 2 })
  assert.throws(() => semaphore.checkRoom(), {
    kind: 'unavailable',
    message: 'too many images',
    retryAfterSeconds: 3,
  })
  resolve()
  const refused = (await all).flatMap((one) => (one.status === 'rejected' ? [one.reason as AppError] : []))
  assert.deepEqual(
    refused.map(({ kind }) => kind),
    ['unavailable', 'unavailable'],
  )
  assert.deepEqual(semaphore.stats(), { running: 0, waiting: 0, refused: 3 })
})

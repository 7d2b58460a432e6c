import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SerialQueue } from './serial-queue.ts'

test('tasks run one after the other in order, also after a failed task', async () => {
  const queue = new SerialQueue()
  const order: string[] = []
  const first = Promise.withResolvers<void>()
  const work = (name: string, waits: Promise<void> = Promise.resolve()) =>
    queue.run(async () => {
      order.push(`${name} begins`)
      await waits
      order.push(`${name} ends`)
      return name
    })
  const slow = work('slow', first.promise)
  const failing = queue.run(async () => Promise.reject(new Error('it fails')))
  const quick = work('quick')
  let isIdle = false
  const idle = queue.idle().then(() => {
    isIdle = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(order, ['slow begins'])
  assert.equal(isIdle, false)
  first.resolve()
  await assert.rejects(failing, /it fails/)
  assert.deepEqual([await slow, await quick], ['slow', 'quick'])
  await idle
  assert.deepEqual(order, ['slow begins', 'slow ends', 'quick begins', 'quick ends'])
})

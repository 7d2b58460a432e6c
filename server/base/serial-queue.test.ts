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

test('under random durations and failures, tasks never overlap and every task runs once in order', async () => {
  let state = 7
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647
  const queue = new SerialQueue()
  const started: number[] = []
  let running = 0
  let ended = 0
  const results: Promise<unknown>[] = []
  for (let i = 0; i < 300; i++) {
    const ticks = Math.floor(random() * 4)
    const isFailing = random() < 0.3
    const work = async () => {
      started.push(i)
      assert.equal(++running, 1)
      for (let tick = 0; tick < ticks; tick++) await new Promise((resolve) => setImmediate(resolve))
      running--
      ended++
      if (isFailing) throw new Error(`task ${i} failed`)
      return i
    }
    const expected = isFailing ? `task ${i} failed` : i
    results.push(queue.run(work).then((result) => assert.equal(result, expected), (error) => assert.equal(error.message, expected))) // biome-ignore format: one line
    if (random() < 0.2) {
      await queue.idle()
      assert.equal(ended, i + 1)
    }
    if (random() < 0.3) await new Promise((resolve) => setImmediate(resolve))
    assert.equal(queue.size >= i + 1 - ended, true)
  }
  await Promise.all(results)
  assert.equal(queue.size, 0)
  assert.deepEqual(started, [...Array(300).keys()])
})

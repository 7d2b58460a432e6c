import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WriteBehind } from './write-behind.ts'

const onFailure = (error: unknown) => {
  throw error
}

const later = () => new Promise((resolve) => setImmediate(resolve))

test('under random additions and failures, every accepted item is written once and in order', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    let state = seed
    const random = () => (state = (state * 48271) % 2147483647) / 2147483647
    const written: number[] = []
    const accepted: number[] = []
    let failures = 0
    let isDown = false
    let writers = 0
    const queue = new WriteBehind<number>({
      maxWaiting: 20,
      maxBatch: 7,
      async write(batch) {
        assert.equal(++writers, 1)
        assert.ok(batch.length > 0 && batch.length <= 7)
        if (random() < 0.5) await later()
        writers--
        if (isDown) throw new Error('the store is down')
        written.push(...batch)
      },
      onFailure: () => failures++,
    })
    for (let step = 0; step < 400; step++) {
      const choice = random()
      if (choice < 0.6) {
        const waiting = queue.waiting
        const isAccepted = queue.add(step)
        assert.equal(isAccepted, waiting < 20)
        if (isAccepted) accepted.push(step)
      } else if (choice < 0.7) queue.send()
      else if (choice < 0.75) isDown = !isDown
      else if (choice < 0.8) {
        const isUp = !isDown
        await queue.flush()
        if (isUp) assert.equal(queue.waiting, 0)
      } else await later()
      assert.ok(queue.waiting <= 20)
    }
    isDown = false
    await queue.flush()
    assert.deepEqual(written, accepted, `seed ${seed}`)
    assert.equal(queue.waiting, 0)
    assert.ok(failures > 0)
  }
})

test('items that are added in the same turn are written in one batch', async () => {
  const batches: number[][] = []
  const queue = new WriteBehind<number>({
    ...{ maxWaiting: 100, maxBatch: 100, onFailure },
    write: async (batch) => void batches.push([...batch]),
  })
  for (let i = 0; i < 5; i++) {
    queue.add(i)
    queue.send()
  }
  await queue.flush()
  assert.deepEqual(batches, [[0, 1, 2, 3, 4]])
})

test('an item that is added when a batch was written goes with the same attempt', async () => {
  const batches: string[][] = []
  const queue = new WriteBehind<string>({
    ...{ maxWaiting: 1, maxBatch: 1, onFailure },
    write: async (batch) => void batches.push([...batch]),
    onWritten: () => {
      if (batches.length === 1) assert.equal(queue.add('second'), true)
    },
  })
  queue.add('first')
  assert.equal(queue.add('refused'), false)
  await queue.flush()
  assert.deepEqual(batches, [['first'], ['second']])
})

test('an item that is added just as an attempt ends is written without another call', async () => {
  for (let depth = 0; depth < 12; depth++) {
    const written: string[] = []
    const queue = new WriteBehind<string>({
      ...{ maxWaiting: 10, maxBatch: 10, onFailure },
      write: async (batch) => void written.push(...batch),
    })
    queue.add('first')
    queue.send()
    for (let tick = 0; tick < depth; tick++) await Promise.resolve()
    queue.add('second')
    queue.send()
    await later()
    assert.deepEqual(written, ['first', 'second'], `after ${depth} microtasks`)
  }
})

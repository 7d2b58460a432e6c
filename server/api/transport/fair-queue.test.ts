import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FairQueue } from './fair-queue.ts'

test('clients take turns, and so do the connections of a client', () => {
  const queue = new FairQueue<string>()
  for (const item of ['a1', 'a2', 'a3', 'a4']) queue.add('a', 1, item)
  queue.add('a', 2, 'other a')
  queue.add('b', 3, 'b1')
  queue.add('b', 3, 'b2')
  const taken = Array.from({ length: 8 }, () => queue.take())
  assert.deepEqual(taken, ['a1', 'b1', 'other a', 'b2', 'a2', 'a3', 'a4', undefined])
  assert.equal(queue.size, 0)
})

test('all that was added is taken once, of each connection in order, and nobody is passed by more than once by any other', () => {
  const client = fc.integer({ min: 0, max: 4 })
  fc.assert(
    fc.property(fc.array(fc.option(fc.tuple(client, fc.integer({ min: 0, max: 2 })), { freq: 3 })), (steps) => {
      const queue = new FairQueue<{ client: string; connection: number; number: number }>()
      const waiting: { client: string; connection: number; number: number }[] = []
      const passedBy = new Map<string, Map<string, number>>()
      let number = 0
      const take = () => {
        const taken = queue.take()
        assert.equal(taken === undefined, waiting.length === 0)
        if (!taken) return
        const own = waiting.filter((each) => each.client === taken.client && each.connection === taken.connection)
        assert.equal(own[0], taken)
        waiting.splice(waiting.indexOf(taken), 1)
        passedBy.delete(taken.client)
        for (const other of new Set(waiting.map((each) => each.client))) {
          if (other === taken.client) continue
          const counts = passedBy.get(other) ?? new Map<string, number>()
          passedBy.set(other, counts.set(taken.client, (counts.get(taken.client) ?? 0) + 1))
          assert.ok(counts.get(taken.client)! <= 1)
        }
      }
      for (const step of steps) {
        if (!step) take()
        else {
          const item = { client: `${step[0]}`, connection: step[1], number: number++ }
          queue.add(item.client, item.connection, item)
          waiting.push(item)
        }
        assert.equal(queue.size, waiting.length)
      }
      while (waiting.length > 0) take()
      take()
    }),
  )
})

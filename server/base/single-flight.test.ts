import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SingleFlight } from './single-flight.ts'

test('callers during a run share it, and the next caller starts another', async () => {
  const flight = new SingleFlight<number>()
  const release = Promise.withResolvers<void>()
  let runs = 0
  const work = async () => {
    const run = ++runs
    await release.promise
    return run
  }
  const shared = [flight.run(work), flight.run(work), flight.run(work)]
  assert.equal(flight.running, shared[0])
  release.resolve()
  assert.deepEqual(await Promise.all(shared), [1, 1, 1])
  assert.equal(flight.running, undefined)
  assert.equal(await flight.run(work), 2)
})

test('a failure reaches everyone who joined the run, and does not last', async () => {
  const flight = new SingleFlight<string>()
  const failing = [1, 2].map(() => flight.run(() => Promise.reject(new Error('it fails'))))
  for (const each of failing) await assert.rejects(each, /it fails/)
  assert.equal(await flight.run(async () => 'done'), 'done')
})

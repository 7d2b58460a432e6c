import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestClock } from '../../test/support/test-clock.ts'
import { repeat } from './repeat.ts'

test('runs start one interval after the end of the run before, and end when the signal aborts', async () => {
  for (const isDelayed of [false, true]) {
    const clock = new TestClock()
    const stop = new AbortController()
    const startsMs: number[] = []
    const work = async () => {
      startsMs.push(clock.monotonicMs())
      await clock.sleep(startsMs.length * 100)
    }
    const done = repeat(work, { clock, signal: stop.signal, intervalMs: 1000, isDelayed })
    const firstMs = isDelayed ? 1000 : 0
    await clock.advance(firstMs + 4500)
    stop.abort()
    await done
    assert.deepEqual(startsMs, [firstMs, firstMs + 1100, firstMs + 2300, firstMs + 3600])
  }
})

test('an abort during a run lets the run end and starts no other', async () => {
  const clock = new TestClock()
  const stop = new AbortController()
  let runs = 0
  const release = Promise.withResolvers<void>()
  const work = async () => {
    runs++
    await release.promise
  }
  const done = repeat(work, { clock, signal: stop.signal, intervalMs: 1000 })
  stop.abort()
  const state = await Promise.race([
    done.then(() => 'ended'),
    new Promise((resolve) => setImmediate(resolve, 'running')),
  ])
  assert.equal(state, 'running')
  release.resolve()
  await done
  assert.equal(runs, 1)
})

test('nothing runs if the signal has already aborted', async () => {
  for (const isDelayed of [false, true]) {
    const options = { clock: new TestClock(), signal: AbortSignal.abort(), intervalMs: 1000, isDelayed }
    await repeat(() => assert.fail('it ran'), options)
  }
})

test('the error of a run ends the repetition', async () => {
  const clock = new TestClock()
  let runs = 0
  const work = () => {
    if (++runs === 3) throw new Error('the third run failed')
  }
  const done = repeat(work, { clock, signal: new AbortController().signal, intervalMs: 1000 })
  const failed = assert.rejects(done, /the third run failed/)
  await clock.advance(10_000)
  await failed
  assert.equal(runs, 3)
})

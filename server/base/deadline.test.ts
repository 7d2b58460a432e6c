import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestClock } from '../../test/support/test-clock.ts'
import { settlesWithin, withDeadline } from './deadline.ts'

const onLate = () => new Error('too late')

test('the result or the error of work that ends in time is passed on', async () => {
  const clock = new TestClock()
  const { signal } = new AbortController()
  const inTime = withDeadline(
    clock.sleep(99).then(() => 'done'),
    { ms: 100, clock, signal, onLate },
  )
  const failing = withDeadline(Promise.reject(new Error('it fails')), { ms: 100, clock, onLate })
  await assert.rejects(failing, /it fails/)
  await clock.advance(99)
  assert.equal(await inTime, 'done')
})

test('work that takes too long is given up, and its later failure is no unhandled rejection', async () => {
  const clock = new TestClock()
  const work = clock.sleep(200).then(() => Promise.reject(new Error('it fails much later')))
  const late = assert.rejects(withDeadline(work, { ms: 100, clock, onLate }), /too late/)
  await clock.advance(100)
  await late
  await clock.advance(100)
})

test('an abort ends the wait with its reason, also if it came before', async () => {
  const clock = new TestClock()
  const stop = new AbortController()
  const options = { ms: 100, clock, signal: stop.signal, onLate }
  const stopped = assert.rejects(withDeadline(new Promise(() => {}), options), /stopped/)
  stop.abort(new Error('stopped'))
  await stopped
  await assert.rejects(withDeadline(new Promise(() => {}), options), /stopped/)
})

test('a limited wait tells whether the work ended in time', async () => {
  const clock = new TestClock()
  const quick = settlesWithin(clock.sleep(99), 100, clock)
  const slow = settlesWithin(clock.sleep(101), 100, clock)
  await assert.rejects(settlesWithin(Promise.reject(new Error('it fails')), 100, clock), /it fails/)
  await clock.advance(100)
  assert.equal(await quick, true)
  assert.equal(await slow, false)
  await clock.advance(100)
})

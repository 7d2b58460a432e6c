import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settle, TestClock } from '../../test/support/test-clock.ts'
import { Notifier } from './notifier.ts'

test('a notification wakes everyone who waits, and nobody who waits later', async () => {
  const clock = new TestClock()
  const notifier = new Notifier()
  const woken: string[] = []
  const wait = (name: string, ms: number, signal?: AbortSignal) =>
    notifier.wait(clock, ms, signal).then(() => woken.push(name))
  notifier.notify()
  const first = [wait('a', 1000), wait('b', 1000)]
  await settle()
  assert.deepEqual(woken, [])
  notifier.notify()
  const late = wait('c', 1000)
  await Promise.all(first)
  await settle()
  assert.deepEqual(woken, ['a', 'b'])
  await clock.advance(999)
  assert.deepEqual(woken, ['a', 'b'])
  await clock.advance(1)
  await late
})

test('a wait ends without an error when its signal aborts', async () => {
  const clock = new TestClock()
  const notifier = new Notifier()
  const stop = new AbortController()
  const waiting = notifier.wait(clock, 1000, stop.signal)
  stop.abort(new Error('stopped'))
  await waiting
  await notifier.wait(clock, 1000, stop.signal)
})

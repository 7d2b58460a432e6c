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
  const waiting = [notifier.wait(clock, 1000, stop.signal), notifier.next(stop.signal)]
  stop.abort(new Error('stopped'))
  assert.deepEqual(await Promise.all(waiting), [false, undefined])
  assert.equal(await notifier.wait(clock, 1000, stop.signal), false)
  await notifier.next(stop.signal)
})

test('a wait tells whether its time has passed', async () => {
  const clock = new TestClock()
  const notifier = new Notifier()
  const late = notifier.wait(clock, 100)
  await clock.advance(100)
  assert.equal(await late, true)
  const notified = notifier.wait(clock, 100)
  await clock.advance(99)
  notifier.notify()
  assert.equal(await notified, false)
})

test('whoever waits again when it is woken waits for the notification after that', async () => {
  const notifier = new Notifier()
  const { signal } = new AbortController()
  let wakings = 0
  const waiting = (async () => {
    for (; wakings < 3; wakings++) await notifier.next(signal)
  })()
  for (let i = 1; i <= 3; i++) {
    notifier.notify()
    await settle()
    assert.equal(wakings, i)
  }
  await waiting
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settle, TestClock } from '../../test/support/test-clock.ts'
import { Timer } from './timer.ts'

/** Repeatable pseudo-random numbers in [0, 1). */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48271) % 2147483647
    return state / 2147483647
  }
}

test('a timer behaves like the model "due at one time, or never" under random starts, stops and waits', async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = createRandom(seed)
    const clock = new TestClock()
    const stop = new AbortController()
    const timer = new Timer(clock, stop.signal)
    const fired: string[] = []
    const expected: string[] = []
    let due: { atMs: number; name: string } | undefined
    for (let step = 0; step < 60; step++) {
      const choice = random()
      if (choice < 0.4) {
        const ms = Math.floor(random() * 5) * 10
        const name = `${step}`
        timer.start(ms, () => fired.push(`${name} at ${clock.monotonicMs()}`))
        due = { atMs: clock.monotonicMs() + ms, name }
      } else if (choice < 0.55) {
        timer.stop()
        due = undefined
      } else {
        const untilMs = clock.monotonicMs() + Math.floor(random() * 4) * 10
        if (due && due.atMs <= untilMs) {
          expected.push(`${due.name} at ${due.atMs}`)
          due = undefined
        }
        await clock.advance(untilMs - clock.monotonicMs())
      }
      assert.deepEqual(fired, expected, `seed ${seed}, step ${step}`)
      assert.equal(timer.isRunning, due !== undefined, `seed ${seed}, step ${step}`)
    }
    timer.start(10, () => fired.push('after the abort'))
    stop.abort()
    await clock.advance(100)
    assert.deepEqual(fired, expected)
    assert.equal(timer.isRunning, false)
  }
})

test('a timer that is stopped at the moment at which its time is over does not call its action', async () => {
  const clock = new TestClock()
  const timer = new Timer(clock)
  // Both sleepers wake at the same time; the first stops the timer before its action is called.
  void clock.sleep(10).then(() => timer.stop())
  timer.start(10, () => assert.fail('the timer was stopped'))
  await clock.advance(10)
  let fired = 0
  timer.start(10, () => {
    fired++
    if (fired < 3) timer.start(10, () => fired++)
  })
  await clock.advance(100)
  await settle()
  assert.equal(fired, 2)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestClock } from '../../test/support/test-clock.ts'
import { pause } from './pause.ts'

test('a pause tells whether its time has passed or it was aborted', async () => {
  const clock = new TestClock()
  const full = pause(clock, 100, new AbortController().signal)
  const stop = new AbortController()
  const short = pause(clock, 101, stop.signal)
  await clock.advance(100)
  stop.abort(new Error('stopped'))
  assert.equal(await full, true)
  assert.equal(await short, false)
  assert.equal(await pause(clock, 0, stop.signal), false)
})

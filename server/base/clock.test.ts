import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from './clock.ts'

test("a sleep longer than Node's timers allow does not return immediately and can be aborted", async () => {
  for (const ms of [2 ** 31, 1e15, Number.POSITIVE_INFINITY]) {
    const controller = new AbortController()
    const sleeping = systemClock.sleep(ms, controller.signal)
    const first = await Promise.race([sleeping, systemClock.sleep(20).then(() => 'still asleep')])
    assert.equal(first, 'still asleep')
    controller.abort(new Error('enough'))
    await assert.rejects(sleeping, /enough/)
  }
})

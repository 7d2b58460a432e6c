import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createLiveView, parseLiveView, writeLiveView } from './live-view.ts'

test('what is written reads back', () => {
  const size = fc.option(fc.integer({ min: 1, max: 2147483647 }), { nil: undefined })
  const rate = fc.option(fc.double({ min: Number.MIN_VALUE, max: Number.MAX_VALUE, noNaN: true }), { nil: undefined })
  fc.assert(
    fc.property(rate, size, size, (refresh_rate, max_width, max_height) => {
      const view = createLiveView({ refresh_rate, max_width, max_height })
      assert.deepEqual(parseLiveView(writeLiveView(view)), view)
    }),
  )
})

test('text of another make is refused', () => {
  for (const text of ['r', 'r0', 'w-1', 'x1', 'w1,', ',', 'rInfinity', 'rNaN']) {
    assert.equal(parseLiveView(text), undefined, text)
  }
})

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

test('however many sizes are asked for, few are made, none of them larger than asked for', () => {
  const widths = new Set<number>()
  for (let pixels = 1; pixels <= 4000; pixels++) {
    const { maxWidth = 0, maxHeight = 0 } = createLiveView({ max_width: pixels, max_height: pixels })
    assert.ok(maxWidth >= 1 && maxWidth <= pixels && maxHeight >= 1 && maxHeight <= pixels, `${pixels}`)
    widths.add(maxWidth)
  }
  assert.ok(widths.size <= 20)
  for (const [width, height] of [[320, 180], [480, 270], [640, 360], [960, 540], [1280, 720], [1920, 1080]] as const) // biome-ignore format: one line
    assert.deepEqual(createLiveView({ max_width: width, max_height: height }), { maxWidth: width, maxHeight: height })
})

test('text of another make is refused', () => {
  for (const text of ['r', 'r0', 'w-1', 'x1', 'w1,', ',', 'rInfinity', 'rNaN']) {
    assert.equal(parseLiveView(text), undefined, text)
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DecodeOrder } from './decode-order.ts'

/**
 * Arranges 0, 1, 2, … in a decode order with at most `depth` frames before one that is displayed earlier. The first one
 * stays the first. `choices` select the next frame among the possible ones.
 */
function reorder(count: number, depth: number, choices: readonly number[]): number[] {
  const waiting = Array.from({ length: count - 1 }, (_, i) => i + 1)
  const order = [0]
  for (let n = 0; waiting.length > 0; n++) {
    const ahead = order.filter((place) => place > waiting[0]!).length
    const reach = Math.min(waiting.length, ahead >= depth ? 1 : depth + 1)
    const at = (choices[n % choices.length] ?? 0) % reach
    // At most `depth` frames may precede the first one that is waiting.
    order.push(...waiting.splice(ahead + 1 > depth ? 0 : at, 1))
  }
  return order
}

const depths = fc.integer({ min: 1, max: 4 })
const choices = fc.array(fc.nat(4), { minLength: 1, maxLength: 40 })
const spacing = fc.constantFrom(1500, 3000, 3600, 6000, 90_000)

test('with a signaled depth, every frame is decoded no later than it is displayed, at even intervals', () => {
  fc.assert(
    fc.property(depths, choices, spacing, fc.integer({ min: 1, max: 100 }), (depth, choices, step90k, frameRate) => {
      const order = new DecodeOrder()
      const zero90k = order.begin({ depth, maxDepth: 4, frameRate })
      const displayed = [zero90k]
      let last90k = order.dts90k
      assert.equal(last90k, 0)
      for (const place of reorder(60, depth, choices).slice(1)) {
        const pts90k = zero90k + place * step90k
        if (pts90k < Math.max(...displayed)) assert.equal(order.findPlace(pts90k), pts90k)
        order.place(pts90k)
        displayed.push(pts90k)
        assert.ok(order.dts90k > last90k && order.dts90k <= pts90k, `${order.dts90k} for ${pts90k}`)
        last90k = order.dts90k
        // The frame that was displayed `depth` positions earlier.
        if (displayed.length > depth + 1) assert.equal(last90k, displayed.toSorted((a, b) => a - b).at(-1 - depth))
      }
    }),
  )
})

test('a depth that is not signaled is learned from the first frames and kept for later runs', () => {
  const order = new DecodeOrder()
  for (const run of [0, 1]) {
    const zero90k = order.begin({ depth: undefined, maxDepth: 4, frameRate: undefined })
    assert.equal(zero90k, run === 0 ? 0 : 3600)
    const times = [order.dts90k]
    const isLate: boolean[] = []
    for (const place of [3, 1, 2, 6, 4, 5, 9, 7, 8, 12, 10, 11]) {
      const pts90k = zero90k + place * 3600
      order.place(pts90k)
      isLate.push(order.dts90k > pts90k)
      times.push(order.dts90k)
    }
    assert.ok(times.every((time, i) => i === 0 || time > times[i - 1]!))
    assert.deepEqual(
      [...new Set(isLate.slice(run === 0 ? 3 : 0))],
      [false],
      'only the first group of pictures of the first run is late',
    )
    assert.equal(times.at(-1), zero90k + 11 * 3600)
  }
})

test('a step back that no decode order explains is rejected, and equal times are placed one after the other', () => {
  const order = new DecodeOrder()
  order.begin({ depth: 2, maxDepth: 4, frameRate: 25 })
  for (let i = 3; i < 20; i++) order.place(i * 3600)
  assert.equal(order.findPlace(14 * 3600), undefined)
  assert.equal(order.findPlace(17.5 * 3600), 17.5 * 3600)
  assert.equal(order.findPlace(19 * 3600), 19 * 3600 + 1)
  order.place(19 * 3600 + 1)
  assert.equal(order.findPlace(19 * 3600), 19 * 3600 + 2)
  order.begin({ depth: 0, maxDepth: 0, frameRate: undefined })
  order.place(3600)
  assert.equal(order.findPlace(1800), undefined)
})

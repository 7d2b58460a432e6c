import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Marks, markBetween, markEnd, markStart, rangeOf, recordedMsIn, writeDuration } from './marked-range.ts'

const ms = fc.integer({ min: 0, max: 1_000_000 })

test('a range begins before it ends, whatever the order of input', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('start', 'end'), ms))
  fc.assert(
    fc.property(steps, (pressed) => {
      const marks = pressed.reduce<Marks>((so, [end, at]) => (end === 'start' ? markStart : markEnd)(so, at), {})
      const range = rangeOf(marks)
      if (range) assert.ok(range.startMs < range.endMs)
      const last = pressed.at(-1)
      // What was pressed last holds.
      if (last) assert.equal(last[0] === 'start' ? marks.startMs : marks.endMs, last[1])
    }),
  )
})

test('a range contains what was dragged over, in whole seconds', () => {
  fc.assert(
    fc.property(ms, ms, (one, other) => {
      const range = rangeOf(markBetween(one, other))
      if (one === other) return assert.equal(range, undefined)
      assert.ok(range!.startMs <= Math.min(one, other) && range!.endMs >= Math.max(one, other))
      assert.deepEqual([range!.startMs % 1000, range!.endMs % 1000], [0, 0])
    }),
  )
})

test('only recorded time counts', () => {
  const segments = [
    { startMs: 0, endMs: 10 },
    { startMs: 20, endMs: 30 },
  ]
  assert.equal(recordedMsIn({ startMs: 5, endMs: 25 }, segments), 10)
  assert.equal(recordedMsIn({ startMs: 11, endMs: 19 }, segments), 0)
  assert.equal(recordedMsIn({ startMs: -5, endMs: 100 }, segments), 20)
})

test('durations use only the units they need', () => {
  const plain = (duration: number) => writeDuration(duration).replaceAll('\u00a0', ' ')
  assert.deepEqual([0, 400, 5_000, 65_000, 3_600_000, 10_805_000].map(plain), [
    '0 s',
    '0 s',
    '5 s',
    '1 min 5 s',
    '1 h',
    '3 h 5 s',
  ])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findNextEvent, placeMarks } from './event-marks.ts'

const view = { startMs: 0, endMs: 86_400_000 }
const events = fc.array(fc.integer({ min: -1_000_000, max: 90_000_000 }).map((atMs) => ({ atMs })))

test('marks have room, hold every event in sight once, and stand at the first of theirs', () => {
  fc.assert(
    fc.property(events, fc.integer({ min: 300, max: 2000 }), (items, width) => {
      const marks = placeMarks(items, view, { width, room: 24 })
      const inSight = items.filter(({ atMs }) => atMs >= view.startMs && atMs < view.endMs)
      assert.equal(marks.flatMap((mark) => mark.items).length, inSight.length)
      for (const [index, mark] of marks.entries()) {
        assert.ok(Math.abs(mark.place - (mark.items[0]!.atMs / view.endMs) * width) < 0.01)
        if (index > 0) assert.ok(mark.place - marks[index - 1]!.place >= 24)
        for (const [i, { atMs }] of mark.items.entries()) assert.ok(i === 0 || atMs >= mark.items[i - 1]!.atMs)
      }
    }),
  )
})

test('from event to event, and back the same way', () => {
  const items = [{ atMs: 50_000 }, { atMs: 10_000 }, { atMs: 30_000 }]
  assert.equal(findNextEvent(items, 0, 'after')?.atMs, 10_000)
  assert.equal(findNextEvent(items, 10_000, 'after')?.atMs, 30_000)
  assert.equal(findNextEvent(items, 10_400, 'after')?.atMs, 30_000)
  assert.equal(findNextEvent(items, 50_000, 'after'), undefined)
  assert.equal(findNextEvent(items, 50_000, 'before')?.atMs, 30_000)
  assert.equal(findNextEvent(items, 10_000, 'before'), undefined)
})
